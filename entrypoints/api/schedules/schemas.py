"""The shapes of requests and answers about schedules, for the OpenAPI document only."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ....domain.firing import Outcome, Reason
from ....domain.limits import MAX_ATTEMPTS_LIMIT
from ....domain.recurrence import LONGEST_EXPRESSION, Dst
from ....domain.schedule import Missed, Overlap
from ..schemas import (
    Duration,
    Input,
    JobId,
    Moment,
    MomentIn,
    Name,
    Payload,
    Policy,
    Priority,
    Seconds,
    Why,
)
from .requests import TIMES, TIMES_MOST

Expression = Annotated[
    str,
    Meta(
        max_length=LONGEST_EXPRESSION,
        description="Five fields, an alias such as @daily, or an interval such as `every 90m`.",
    ),
]
Zone = Annotated[str, Meta(description="A name of the tz database, such as Europe/Oslo.")]
Local = Annotated[
    str | None, Meta(description="The wall clock of the zone then, null after the calendar's end there.")
]
Standing = Annotated[
    Literal["active", "paused", "over"], Meta(description="over: it never fires again by itself.")
]
Cursor = Annotated[str | None, Meta(description="The cursor of the next page, null on the last.")]


class ScheduledJob(Input):
    """What each job is like: the fields of a submit, without those that come from the fire time."""

    type: Name
    payload: Payload | UnsetType = UNSET
    queue: Name = "default"
    priority: Priority = 5
    max_attempts: Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS_LIMIT)] = 5
    timeout: Annotated[Duration | None, Meta(description="null means none.")] = 3600
    lease: Duration = 30
    retry: Policy | UnsetType = UNSET


class ScheduleReplacement(Why, kw_only=True):
    """A whole definition: what is left out has its default, but for the start, which stays where it is."""

    cron: Expression
    job: ScheduledJob
    tz: Zone = "UTC"
    dst: Dst = Dst.VIXIE
    starts_at: Annotated[MomentIn, Meta(description="From its creation on when left out.")] | UnsetType = (
        UNSET
    )
    ends_at: Annotated[MomentIn | None, Meta(description="The last moment at which it may fire.")] = None
    jitter: Annotated[
        Duration, Meta(description="Up to so much later than its fire time a job is due; at most a day.")
    ] = 0
    missed: Missed = Missed.LATEST
    catchup_window: Annotated[
        Duration | None, Meta(description="Missed fire times older than this are skipped; at least 10 s.")
    ] = None
    overlap: (
        Annotated[Overlap, Meta(description="skip when left out, but allow with missed = all.")] | UnsetType
    ) = UNSET
    pause_on_failure: bool = False


class ScheduleRequest(ScheduleReplacement, kw_only=True):
    """A schedule to create."""

    name: Name


class TriggerRequest(Why):
    """``overlap`` counts in place of the schedule's; the body may be left out."""

    overlap: Overlap = Overlap.ALLOW


class PreviewRequest(Input, kw_only=True):
    """An expression to look at; an interval is counted from ``from``."""

    cron: Expression
    tz: Zone = "UTC"
    dst: Dst = Dst.VIXIE
    from_: (
        Annotated[MomentIn, Meta(description="Fire times later than this; now when left out.")] | UnsetType
    ) = field(name="from", default=UNSET)
    number: Annotated[int, Meta(ge=1, le=TIMES_MOST)] = TIMES


class FireTime(Struct):
    """A fire time."""

    fire_at: Moment
    local: Local


class DueFireTime(FireTime):
    """A fire time, and when its job is due: later by the jitter."""

    due_at: Moment


class Preview(Struct):
    """``cron`` is the expression as it would be stored, ``words`` says it in English."""

    cron: str
    words: str
    tz: str
    tz_version: str
    times: list[FireTime]


class Upcoming(Struct):
    """The next fire times without a decision; of a paused schedule, those it would have if it were resumed now."""

    schedule: Name
    version: int
    state: Standing
    words: str
    tz: str
    tz_version: str
    times: list[DueFireTime]


class JobTemplateInList(Struct):
    """What each job is like, without payload."""

    type: Name
    queue: Name
    priority: Priority
    max_attempts: int
    timeout: Seconds | None
    lease: Seconds
    retry: Policy


class JobTemplate(JobTemplateInList):
    """What each job is like."""

    payload: dict[str, Any] | None


class ScheduleInList(Struct):
    """A schedule and where it stands; ``words`` says ``cron`` in English."""

    name: Name
    version: Annotated[int, Meta(description="Grows with each change by somebody; the ETag.")]
    state: Standing
    cron: str
    words: Annotated[str | None, Meta(description="null when nobody knows its fire times: its zone is gone.")]
    tz: str
    dst: Dst
    starts_at: Moment
    ends_at: Moment | None
    jitter: Seconds
    missed: Missed
    catchup_window: Seconds | None
    overlap: Overlap
    pause_on_failure: bool
    job: JobTemplateInList
    created_at: Moment
    next_fire_at: Annotated[
        Moment | None,
        Meta(description="The first fire time without a decision; null when paused or at its end."),
    ]
    paused_at: Moment | None
    pause_reason: str | None
    waiting: Annotated[
        Moment | None,
        Meta(description="The fire time whose job is inserted once those before it have ended."),
    ]
    open_jobs: Annotated[
        list[JobId], Meta(description="Its unfinished jobs, as far as is known since its last firing.")
    ]
    last_job: JobId | None
    declared_by: Annotated[
        str | None,
        Meta(
            description="The app whose code declares it: it comes back after a delete when that starts again."
        ),
    ]
    drifted: Annotated[list[str], Meta(description="Fields that are not as that code said last.")]


class FieldDifference(Struct):
    """A field that is not as the code said last, with both values; of payloads, digests."""

    field: str
    schedule: Any
    code: Any


class Schedule(ScheduleInList):
    """A schedule in full."""

    job: JobTemplate
    drift: Annotated[list[FieldDifference], Meta(description="The fields in ``drifted``, with both values.")]


class UnreadableSchedule(Struct):
    """A schedule whose definition nobody can read: it fires nothing, and can be paused, deleted and replaced."""

    name: Name
    version: int
    fault: Annotated[str, Meta(description="What is wrong with its definition.")]
    next_fire_at: Moment | None
    paused_at: Moment | None


class SchedulePage(Struct):
    """Schedules by name; those that nobody can read are apart, and count for the page, too."""

    items: list[ScheduleInList]
    unreadable: list[UnreadableSchedule]
    next: Cursor


class Decision(Struct):
    """The decision about one fire time, or about ``count`` of them up to ``until``."""

    fire_at: Moment
    until: Moment | None
    count: int
    outcome: Outcome
    reason: Reason
    origin: Annotated[str, Meta(description="`cron`, or the operation that asked for it.")]
    job_id: Annotated[JobId | None, Meta(description="null for what makes no job, or does not yet.")]


class FiringInLedger(Decision):
    """A row of the ledger: one that skips went on in keeps what its first decision says."""

    decided_at: Annotated[
        Moment, Meta(description="Later than `fire_at` by as much as the decision was late.")
    ]
    version: Annotated[int, Meta(description="Of the schedule it was decided for.")]
    tz_version: Annotated[str, Meta(description="Of the tz database it was decided by.")]


class FiringPage(Struct):
    """The ledger, newest fire time first."""

    items: list[FiringInLedger]
    next: Cursor


class Triggered(Decision):
    """What was decided about a request to fire now."""

    schedule: Name


class ScheduleSwitched(Struct):
    """``already_applied``: the schedule was so before."""

    schedule: Name
    verdict: Literal["accepted", "already_applied"]


MODELS: tuple[type[Struct], ...] = (
    *(ScheduleRequest, ScheduleReplacement, TriggerRequest, PreviewRequest),
    *(Schedule, SchedulePage, FiringPage, Triggered, ScheduleSwitched, Preview, Upcoming),
)
