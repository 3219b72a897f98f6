"""The shapes of requests and answers, for the OpenAPI document only: parsing and rendering do not go through them."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ...domain.limits import BATCH_JOBS, KEY_LENGTH, MAX_ATTEMPTS_LIMIT, NAME_PATTERN, TEXT_LENGTH
from ...domain.vocabulary import CommandName, State
from .problems import KINDS, Code

Name = Annotated[str, Meta(pattern=f"^{NAME_PATTERN}$")]
Key = Annotated[str, Meta(min_length=1, max_length=KEY_LENGTH, description="Case-sensitive, not normalised.")]
Reason = Annotated[str, Meta(max_length=TEXT_LENGTH, description="Why; kept in the event.")]
Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
MomentIn = Annotated[
    str,
    Meta(
        description="RFC 3339 with an offset, 1970 to 9999; cut to microseconds; the past is due first.",
        extra_json_schema={"format": "date-time"},
    ),
]
Duration = Annotated[
    float | str, Meta(description="Seconds, or text such as 30s, 5m, 1h30m, 2d; at most 100 years.")
]
Seconds = Annotated[float, Meta(description="Seconds.")]
Priority = Annotated[int, Meta(ge=0, le=9)]
Payload = Annotated[dict[str, Any], Meta(description="At most 256 KiB and 64 levels deep.")]
JobId = Annotated[int, Meta(ge=1)]


CODES = "; ".join(f"{code} ({status}): {title}" for code, (status, title) in KINDS.items())
REF = "#/components/schemas/"


def _either(*names: str) -> Meta:
    return Meta(extra_json_schema={"oneOf": [{"$ref": REF + name} for name in names]})


class Input(Struct, kw_only=True, forbid_unknown_fields=True):
    """What is sent: nothing but these fields."""


class Exponential(Input, tag_field="policy", tag="exponential"):
    """A random wait up to base · 2^(n−1), at most cap, after the n-th failure."""

    base: Duration = 10
    cap: Duration = 900


class Constant(Input, tag_field="policy", tag="constant"):
    """The same wait after each failure."""

    delay: Duration


class Delays(Input, tag_field="policy", tag="delays"):
    """One wait per failure; the last one repeats."""

    delays: Annotated[list[Duration], Meta(min_length=1, max_length=100)]


Policy = Exponential | Constant | Delays


class Unique(Input):
    """At most one unfinished job per type, queue and chosen payload fields; with a period, one per that long."""

    fields: (
        Annotated[list[str], Meta(description="Fields of the payload; all when left out.")] | UnsetType
    ) = UNSET
    period: Duration | UnsetType = UNSET
    across_queues: bool = False


class JobRequest(Input):
    """One job to accept. ``run_at`` and ``delay`` exclude each other; null is taken for ``timeout`` only."""

    type: Name
    payload: Payload | UnsetType = UNSET
    queue: Name = "default"
    priority: Priority = 5
    run_at: MomentIn | UnsetType = UNSET
    delay: Duration | UnsetType = UNSET
    max_attempts: Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS_LIMIT)] = 5
    timeout: Annotated[Duration | None, Meta(description="null means none.")] = 3600
    lease: Duration = 30
    retry: Policy | UnsetType = UNSET
    effect_key: Key | UnsetType = UNSET
    unique: Annotated[Unique | bool, Meta(description="true takes the defaults of Unique.")] | UnsetType = (
        UNSET
    )


class BatchJob(JobRequest):
    """One job of a batch; ``key`` is its submit key, as the header Idempotency-Key is that of a single one."""

    key: Key | UnsetType = UNSET


class Batch(Input):
    """Many jobs: all or nothing, unless ``partial`` lets the good ones in without the bad ones."""

    jobs: Annotated[list[BatchJob], Meta(min_length=1, max_length=BATCH_JOBS)]
    partial: bool = False


class Why(Input):
    """An operation that needs nothing; the body may be left out."""

    reason: Reason | UnsetType = UNSET


class Requeue(Why):
    """``fresh_effect_key`` must be chosen for a job that has succeeded."""

    payload: Payload | UnsetType = UNSET
    fresh_effect_key: bool | UnsetType = UNSET


class Revoke(Why):
    """``cancel`` also cancels the job."""

    cancel: bool = False


class Edit(Why):
    """At least one field beside the reason."""

    run_at: MomentIn | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    queue: Name | UnsetType = UNSET
    payload: Payload | UnsetType = UNSET


class Submitted(Struct):
    """``created`` is false when a submit key or unique options led to an earlier job."""

    job_id: JobId
    created: bool


class Fault(Struct):
    """One broken rule and its place: a JSON pointer into the body, a parameter, or a header."""

    rule: str
    pointer: str | UnsetType = UNSET
    parameter: str | UnsetType = UNSET
    header: str | UnsetType = UNSET


class RefusedItem(Struct):
    """A job of a partial batch that was not accepted."""

    errors: list[Fault]


class BatchAnswer(Struct):
    """The answers in the order of the jobs."""

    jobs: list[Annotated[dict[str, Any], _either("Submitted", "RefusedItem")]]


class JobInList(Struct):
    """A job without payload and result."""

    job_id: JobId
    type: Name
    queue: Name
    priority: Priority
    state: State
    seq: Annotated[int, Meta(description="Number of the last event; the ETag.")]
    run_at: Moment
    submitted_at: Moment
    attempt: int
    failures: int
    expiries: int
    idle_returns: int
    max_attempts: int
    timeout: Seconds | None
    lease: Seconds
    retry: Policy
    effect_key: str | None
    scheduled_for: Moment | None
    worker: str | None
    claim_id: str | None
    cancel_requested_at: Moment | None
    dismissed: bool


class Job(JobInList):
    """A job as it is now; ``payload`` is null after it was erased. Numbers come back digit for digit."""

    payload: dict[str, Any] | None
    result: Any


class ControlEvent(Struct):
    """What is not about one job's state, or is evidence beside it.

    ``subject`` is ``job:<id>``, ``queue:<name>`` or ``schedule:<name>``.
    """

    subject: str
    position: int
    name: str
    at: Moment
    actor: str
    request_id: str | None
    reason: str | None
    data: dict[str, Any]


class JobEventInLog(ControlEvent):
    """One transition of one job; payload and result are left out, ``data`` has their digests."""

    job_id: JobId
    seq: int
    command: CommandName | None
    state: State
    attempt: int
    claim_id: str | None
    failures: int
    run_at: Moment | None
    lease_expires_at: Moment | None
    heartbeats: int | None
    started_at: Moment | None
    ran: Seconds | None
    build: str | None


class JobEvent(JobEventInLog):
    """One transition of one job, in full."""

    payload: dict[str, Any] | None
    result: Any


class History(Struct):
    """A job's events by seq, and what was noted beside them: refused reports, erasures."""

    events: list[JobEvent]
    evidence: list[ControlEvent]


class JobPage(Struct):
    """``next`` is the cursor of the next page, null on the last."""

    items: list[JobInList]
    next: str | None


class EventPage(Struct):
    """``next_after`` is the ``after`` of the next page, null on the last."""

    items: list[Annotated[dict[str, Any], _either("JobEventInLog", "ControlEvent")]]
    next_after: int | None


class Queue(Struct):
    """A queue and its jobs now; ``due`` are pending ones whose time has come."""

    name: Name
    paused_at: Moment | None
    pending: int
    due: int
    running: int


class Queues(Struct):
    """All queues by name."""

    items: list[Queue]


class Operated(Struct):
    """``already_applied``: the aim was reached before, nothing was written."""

    job_id: JobId
    verdict: Literal["accepted", "already_applied"]


class Switched(Struct):
    """``already_applied``: the queue was so before."""

    queue: Name
    verdict: Literal["accepted", "already_applied"]


class Problem(Struct):
    """RFC 9457; ``code`` is stable, ``title`` and ``detail`` are for people."""

    type: str
    title: str
    status: int
    code: Annotated[Code, Meta(description=CODES)]
    detail: str | UnsetType = UNSET
    request_id: str | UnsetType = UNSET
    errors: list[Fault] | UnsetType = UNSET


class Health(Struct):
    """Alive, or ready."""

    ok: bool


REQUESTS: tuple[type[Struct], ...] = (JobRequest, Batch, Why, Requeue, Revoke, Edit)
ANSWERS: tuple[type[Struct], ...] = (
    *(Submitted, RefusedItem, BatchAnswer, Job, JobPage, History, JobEventInLog, EventPage),
    *(Queues, Operated, Switched, Problem, Health),
)


def components(*more: type[Struct]) -> dict[str, Any]:
    """Return all of them, and some more, as JSON Schemas by name."""
    models = (*REQUESTS, *ANSWERS, *more)
    return _untitled(msgspec.json.schema_components(models, ref_template=REF + "{name}")[1])


def _untitled(schemas: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: value for key, value in schema.items() if key != "title"}
        for name, schema in schemas.items()
    }
