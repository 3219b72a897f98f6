"""What the OpenAPI document says of each route."""

from typing import Any

from ...domain.limits import NAME_PATTERN
from ...domain.vocabulary import State
from . import schemas
from .describing import LIMIT, MANY_TEXTS, MOMENT, NUMBER, PAGED, TEXT, answer, parameter, query, route

JOB_ID = parameter("job_id", "path", {"type": "integer", "minimum": 1})
QUEUE = parameter(
    "name", "path", {"type": "string", "pattern": f"^{NAME_PATTERN}$"}, "Slashes stay as they are."
)
IDEMPOTENCY_KEY = parameter(
    "Idempotency-Key",
    "header",
    {"type": "string", "minLength": 1, "maxLength": 255},
    "The submit key, bare or quoted. The same key with the same job gives the first answer's job for 7 days; with "
    "another job key_conflict. After outcome_unknown, repeat the request with the same key.",
)
IF_NONE_MATCH = parameter("If-None-Match", "header", TEXT, "An ETag: 304 when the job has no newer event.")


def _operation(summary: str, body: type, *, body_required: bool = False) -> dict[str, Any]:
    answers = {200: answer("Done, or nothing was left to do.", schemas.Operated)}
    return route(summary, answers, JOB_ID, body=body, body_required=body_required)


SUBMITTED = {
    "Location": "The job.",
    "Idempotency-Replayed": "true: this is the job that the key, or unique options, had led to before.",
}
SUBMIT = route(
    "Submit a job",
    {
        201: answer("Accepted: the job is durable.", schemas.Submitted, SUBMITTED),
        200: answer("An earlier job is the answer.", schemas.Submitted, SUBMITTED),
    },
    IDEMPOTENCY_KEY,
    body=schemas.JobRequest,
)
SUBMIT_MANY = route(
    "Submit up to 1,000 jobs in one transaction",
    {
        201: answer("At least one job is new.", schemas.BatchAnswer),
        200: answer("No job is new.", schemas.BatchAnswer),
    },
    body=schemas.Batch,
)
LIST_JOBS = route(
    "List jobs, newest first",
    {200: answer("A page.", schemas.JobPage)},
    query("state", {"type": "array", "items": {"enum": list(State)}}, "May be repeated."),
    query("queue", TEXT, "Literal, no pattern."),
    query("type", TEXT, "Literal, no pattern."),
    query("schedule", TEXT, "A name: the jobs that its ledger names; 404 when there is neither."),
    query("dismissed", {"type": "boolean"}),
    query("submitted_from", MOMENT),
    query("submitted_before", MOMENT),
    *PAGED,
)
_GOT = answer("The job.", schemas.Job, {"ETag": "The seq of the last event, quoted."})
GET_JOB = route("Show a job", {200: _GOT, 304: {"description": "No newer event."}}, JOB_ID, IF_NONE_MATCH)
JOB_EVENTS = route("Show a job's history", {200: answer("All events.", schemas.History)}, JOB_ID)
CANCEL = _operation("Cancel a pending job, or ask a running one to stop", schemas.Why)
REQUEUE = _operation("Put a finished job back", schemas.Requeue)
REVOKE = _operation("End a running job's lease by force", schemas.Revoke)
DISMISS = _operation("Hide a dead job from the worklist", schemas.Why)
EDIT = _operation("Change a pending job", schemas.Edit, body_required=True)
LIST_QUEUES = route("List queues", {200: answer("All queues.", schemas.Queues)})
_SWITCHED = {200: answer("Done, or nothing was left to do.", schemas.Switched)}
PAUSE = route("Pause a queue", _SWITCHED, QUEUE, body=schemas.Why, body_required=False)
RESUME = route("Resume a queue", _SWITCHED, QUEUE, body=schemas.Why, body_required=False)
_EVENTS = answer("A page; with Accept: application/x-ndjson all events, one a line.", schemas.EventPage)
_EVENTS["content"]["application/x-ndjson"] = {"schema": {"type": "string"}}
LIST_EVENTS = route(
    "Read the global log by position",
    {200: _EVENTS},
    query("name", MANY_TEXTS, "An event's name; may be repeated."),
    query("actor", TEXT),
    query("job_id", {"type": "integer", "minimum": 1}),
    query("subject", TEXT, "`job:<id>`, `queue:<name>` or `schedule:<name>`."),
    query("since", MOMENT),
    query("after", NUMBER, "A position."),
    query("limit", LIMIT),
)
LIVEZ = route("Whether the process lives", {200: answer("It does.", schemas.Health)})
READYZ = route("Whether requests can be served", {200: answer("They can.", schemas.Health)})
