"""What the OpenAPI document says of each route."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from ...domain.limits import NAME_PATTERN
from ...domain.vocabulary import State
from . import schemas
from .problems import MEDIA_TYPE

PROBLEM = {
    "description": "A problem (RFC 9457); its `code` says which.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": schemas.REF + "Problem"}}},
}
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": PROBLEM, "5XX": PROBLEM}

Parameter = dict[str, Any]


def _parameter(name: str, place: str, schema: Mapping[str, Any], text: str = "") -> Parameter:
    described = {"description": text} if text else {}
    return {"name": name, "in": place, "required": place == "path", "schema": dict(schema), **described}


def _query(name: str, schema: Mapping[str, Any], text: str = "") -> Parameter:
    return _parameter(name, "query", schema, text)


TEXT = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 0}
LIMIT = {"type": "integer", "minimum": 1, "maximum": 500, "default": 100}
MOMENT = {"type": "string", "format": "date-time"}
MANY_TEXTS = {"type": "array", "items": TEXT}
JOB_ID = _parameter("job_id", "path", {"type": "integer", "minimum": 1})
QUEUE = _parameter(
    "name", "path", {"type": "string", "pattern": f"^{NAME_PATTERN}$"}, "Slashes stay as they are."
)
REQUEST_ID = _parameter(
    "X-Request-Id",
    "header",
    {"type": "string", "pattern": r"^[A-Za-z0-9._:/+=@-]{1,128}$"},
    "Kept in the events; made when left out.",
)
IDEMPOTENCY_KEY = _parameter(
    "Idempotency-Key",
    "header",
    {"type": "string", "minLength": 1, "maxLength": 255},
    "The submit key, bare or quoted. The same key with the same job gives the first answer's job for 7 days; with "
    "another job key_conflict. After outcome_unknown, repeat the request with the same key.",
)
IF_NONE_MATCH = _parameter("If-None-Match", "header", TEXT, "An ETag: 304 when the job has no newer event.")


def _answer(text: str, model: type, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    described = {name: {"description": says, "schema": TEXT} for name, says in (headers or {}).items()}
    schema = {"$ref": schemas.REF + model.__name__}
    answer = {"description": text, "content": {"application/json": {"schema": schema}}}
    return {**answer, "headers": described} if described else answer


def _route(
    summary: str,
    answers: Mapping[int, dict[str, Any]],
    *parameters: Parameter,
    body: type | None = None,
    body_required: bool = True,
) -> dict[str, Any]:
    extra: dict[str, Any] = {"parameters": [*parameters, REQUEST_ID]}
    if body is not None:
        content = {"application/json": {"schema": {"$ref": schemas.REF + body.__name__}}}
        extra["requestBody"] = {"required": body_required, "content": content}
    return {
        "summary": summary,
        "status_code": next(iter(answers)),
        "responses": {**answers, **PROBLEMS},
        "response_class": JSONResponse,
        "openapi_extra": extra,
    }


def _operation(summary: str, body: type, *, body_required: bool = False) -> dict[str, Any]:
    answers = {200: _answer("Done, or nothing was left to do.", schemas.Operated)}
    return _route(summary, answers, JOB_ID, body=body, body_required=body_required)


SUBMITTED = {
    "Location": "The job.",
    "Idempotency-Replayed": "true: this is the job that the key, or unique options, had led to before.",
}
SUBMIT = _route(
    "Submit a job",
    {
        201: _answer("Accepted: the job is durable.", schemas.Submitted, SUBMITTED),
        200: _answer("An earlier job is the answer.", schemas.Submitted, SUBMITTED),
    },
    IDEMPOTENCY_KEY,
    body=schemas.JobRequest,
)
SUBMIT_MANY = _route(
    "Submit up to 1,000 jobs in one transaction",
    {
        201: _answer("At least one job is new.", schemas.BatchAnswer),
        200: _answer("No job is new.", schemas.BatchAnswer),
    },
    body=schemas.Batch,
)
LIST_JOBS = _route(
    "List jobs, newest first",
    {200: _answer("A page.", schemas.JobPage)},
    _query("state", {"type": "array", "items": {"enum": list(State)}}, "May be repeated."),
    _query("queue", TEXT, "Literal, no pattern."),
    _query("type", TEXT, "Literal, no pattern."),
    _query("dismissed", {"type": "boolean"}),
    _query("submitted_from", MOMENT),
    _query("submitted_before", MOMENT),
    _query("limit", LIMIT),
    _query("cursor", TEXT, "`next` of the page before, with the same filter."),
)
_GOT = _answer("The job.", schemas.Job, {"ETag": "The seq of the last event, quoted."})
GET_JOB = _route("Show a job", {200: _GOT, 304: {"description": "No newer event."}}, JOB_ID, IF_NONE_MATCH)
JOB_EVENTS = _route("Show a job's history", {200: _answer("All events.", schemas.History)}, JOB_ID)
CANCEL = _operation("Cancel a pending job, or ask a running one to stop", schemas.Why)
REQUEUE = _operation("Put a finished job back", schemas.Requeue)
REVOKE = _operation("End a running job's lease by force", schemas.Revoke)
DISMISS = _operation("Hide a dead job from the worklist", schemas.Why)
EDIT = _operation("Change a pending job", schemas.Edit, body_required=True)
LIST_QUEUES = _route("List queues", {200: _answer("All queues.", schemas.Queues)})
_SWITCHED = {200: _answer("Done, or nothing was left to do.", schemas.Switched)}
PAUSE = _route("Pause a queue", _SWITCHED, QUEUE, body=schemas.Why, body_required=False)
RESUME = _route("Resume a queue", _SWITCHED, QUEUE, body=schemas.Why, body_required=False)
_EVENTS = _answer("A page; with Accept: application/x-ndjson all events, one a line.", schemas.EventPage)
_EVENTS["content"]["application/x-ndjson"] = {"schema": {"type": "string"}}
LIST_EVENTS = _route(
    "Read the global log by position",
    {200: _EVENTS},
    _query("name", MANY_TEXTS, "An event's name; may be repeated."),
    _query("actor", TEXT),
    _query("job_id", {"type": "integer", "minimum": 1}),
    _query("subject", TEXT, "`job:<id>` or `queue:<name>`."),
    _query("since", MOMENT),
    _query("after", NUMBER, "A position."),
    _query("limit", LIMIT),
)
LIVEZ = _route("Whether the process lives", {200: _answer("It does.", schemas.Health)})
READYZ = _route("Whether requests can be served", {200: _answer("They can.", schemas.Health)})
