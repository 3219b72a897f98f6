"""What the OpenAPI document says of the routes of schedules."""

from ....domain.firing import Outcome, Reason
from ....domain.limits import NAME_PATTERN
from ..describing import PAGED, TEXT, answer, parameter, query, route
from ..schemas import Why
from . import schemas
from .requests import TIMES, TIMES_MOST

REPLAYED = {"Idempotency-Replayed": "true: the same key, or request id, was answered so before."}
SCHEDULE = parameter(
    "name",
    "path",
    {"type": "string", "pattern": f"^{NAME_PATTERN}$"},
    "Slashes stay as they are; only one before a last word of `next`, `firings` or `backfills` is written `%2F`.",
)
IF_MATCH = parameter(
    "If-Match",
    "header",
    TEXT,
    "An ETag: version_conflict unless it is the current one, or nothing is left to change.",
)
IDEMPOTENCY_KEY = parameter(
    "Idempotency-Key",
    "header",
    {"type": "string", "minLength": 1, "maxLength": 255},
    "One key asks a schedule once: the same again is answered alike, and something else is a key_conflict. So does one "
    "X-Request-Id where there is no key. After outcome_unknown, repeat the request with the same key.",
)
NUMBER = {"type": "integer", "minimum": 1, "maximum": TIMES_MOST, "default": TIMES}
_TAG = {"ETag": "The version, quoted, for If-Match."}
_WHOLE = answer("The schedule.", schemas.Schedule, _TAG)
_SWITCHED = {200: answer("Done, or nothing was left to do.", schemas.ScheduleSwitched)}

CREATE = route(
    "Create a schedule",
    {
        201: answer("Created.", schemas.Schedule, {**_TAG, "Location": "The schedule."}),
        200: answer(
            "It is there, and defined alike.", schemas.Schedule, {**_TAG, "Location": "The schedule."}
        ),
    },
    body=schemas.ScheduleRequest,
)
LIST = route("List schedules by name", {200: answer("A page.", schemas.SchedulePage)}, *PAGED)
GET = route("Show a schedule", {200: _WHOLE}, SCHEDULE)
REPLACE = route(
    "Replace a schedule's definition", {200: _WHOLE}, SCHEDULE, IF_MATCH, body=schemas.ScheduleReplacement
)
DELETE = route(
    "Delete a schedule",
    {204: {"description": "It is gone; its ledger stays."}},
    SCHEDULE,
    IF_MATCH,
    body=Why,
    body_required=False,
)
PAUSE = route("Pause a schedule", _SWITCHED, SCHEDULE, body=Why, body_required=False)
RESUME = route("Resume a schedule, from now on", _SWITCHED, SCHEDULE, body=Why, body_required=False)
TRIGGER = route(
    "Fire now",
    {200: answer("Decided.", schemas.Triggered, REPLAYED)},
    SCHEDULE,
    IDEMPOTENCY_KEY,
    body=schemas.TriggerRequest,
    body_required=False,
)
NEXT = route(
    "Show a schedule's next fire times",
    {200: answer("Fire times.", schemas.Upcoming)},
    SCHEDULE,
    query("number", NUMBER),
)
FIRINGS = route(
    "Read a schedule's ledger",
    {200: answer("A page, which firings of one moment may make longer.", schemas.FiringPage)},
    SCHEDULE,
    query("outcome", {"type": "array", "items": {"enum": list(Outcome)}}, "May be repeated."),
    query("reason", {"type": "array", "items": {"enum": list(Reason)}}, "May be repeated."),
    query("origin", TEXT, "`cron`, or that of one trigger or backfill."),
    *PAGED,
)
PREVIEW = route(
    "Show the fire times of an expression",
    {200: answer("Fire times.", schemas.Preview)},
    body=schemas.PreviewRequest,
)
