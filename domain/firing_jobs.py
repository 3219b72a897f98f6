"""The jobs of a schedule: what the job of a firing is like, and which of them stand in the way of the next."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from attrs import evolve

from .commands import Cancel, Origin, Submit
from .facts import instant
from .firing import due_at
from .schedule import CRON, Overlap, Schedule, Slot, unreadable
from .vocabulary import TERMINAL, State
from .zones import TZ_VERSION

ACTOR = "schedule:"
"""How the names of those begin who act where schedules do."""
OPEN_JOBS = 1_000
"""Unfinished jobs of one schedule that are remembered; of more, the newest."""


def submit(schedule: Schedule, slot: Slot) -> Submit:
    """Return the job of a firing; its effect key is the slot's, so that it is the same whenever it is inserted.

    It is due at the fire time and its jitter; one that an operation asks for at once, behind what has waited longer,
    however old the fire time.
    """
    specification = evolve(
        schedule.definition.template,
        effect_key=effect_key(schedule.name, slot.fire_at, slot.origin),
        scheduled_for=slot.fire_at,
    )
    by_clock = slot.origin == CRON
    run_at = due_at(schedule.name, schedule.definition.timing, slot.fire_at) if by_clock else None
    return Submit(origin=Origin(actor(schedule.name)), specification=specification, run_at=run_at)


def stop(schedule: Schedule) -> Cancel:
    """Return the request to its open jobs to make room for a new one."""
    return Cancel(origin=_itself(schedule, "a new firing is due"))


def actor(name: str) -> str:
    """Return who acts where a schedule of this name does."""
    return f"{ACTOR}{name}"


def effect_key(name: str, fire_at: datetime, origin: str) -> str:
    """Return the effect key of a slot's job."""
    key = f"{actor(name)}:{instant(fire_at)}"
    return key if origin == CRON else f"{key}:{origin}"


def operation_origin(kind: str, operation_id: str) -> str:
    """Return the origin of firings that an operation asks for, of a length that fits into keys."""
    return f"{kind}:{sha256(operation_id.encode()).hexdigest()[:32]}"


def with_jobs(schedule: Schedule, job_ids: Sequence[int]) -> Schedule:
    """Remember new jobs of a schedule."""
    if not job_ids:
        return schedule
    return evolve(schedule, open_jobs=(*schedule.open_jobs, *job_ids)[-OPEN_JOBS:], last_job=job_ids[-1])


def inheriting(schedule: Schedule, version: int, job_ids: Sequence[int]) -> Schedule:
    """Let a new schedule go on behind the last ``version`` of its name, 0 if there was none, and know its open jobs.

    No version of a name comes back, and how jobs end that an earlier schedule has made is not the new one's concern.
    """
    return evolve(schedule, version=version + 1, open_jobs=tuple(job_ids[-OPEN_JOBS:]))


def remembered(schedule: Schedule) -> list[int]:
    """Return the jobs whose states decisions depend on, each once."""
    last = () if schedule.last_job is None else (schedule.last_job,)
    return list(dict.fromkeys((*schedule.open_jobs, *last)))


def unfinished(schedule: Schedule, states: Mapping[int, State]) -> Schedule:
    """Forget the jobs that have ended; the last one is remembered, as somebody may requeue it."""
    still = (job for job in remembered(schedule) if states.get(job, State.SUCCEEDED) not in TERMINAL)
    return evolve(schedule, open_jobs=tuple(still))


def may_begin(schedule: Schedule) -> bool:
    """Whether the job of the waiting firing may be inserted: what it waits for has ended, or need not be waited for.

    An edit lets the clock's firings overlap also where one waits already; who asked for one that waits, meant it.
    """
    waiting, overlap = schedule.waiting, schedule.definition.policies.overlap
    if waiting is None:
        return False
    return not schedule.open_jobs or (waiting.origin == CRON and overlap is Overlap.ALLOW)


def failed(schedule: Schedule, states: Mapping[int, State]) -> bool:
    """Whether the last job is dead and the schedule wants to be paused for that."""
    pauses = schedule.definition.policies.pause_on_failure
    return pauses and schedule.last_job is not None and states.get(schedule.last_job) is State.DEAD


def obstacle(schedule: Schedule, states: Mapping[int, State]) -> Origin | None:
    """Return who pauses a schedule that can't go on, and why; None for one that can.

    A row that nobody can read must hold up no other one, and must not be tried for ever.
    """
    if failed(schedule, states):
        return failure(schedule)
    rule = unreadable(schedule.definition.timing)
    if rule is None:
        return None
    return _itself(schedule, f"its fire times are unknown: {rule}")


def refused(schedule: Schedule, rule: str) -> Origin:
    """Return who pauses a schedule whose decisions the database takes from nobody, and why."""
    return _itself(schedule, f"the database refuses it: {rule}")


def newer_rules(schedule: Schedule) -> Origin:
    """Return who moves a schedule whose next fire time came from older rules of time zones, and why."""
    return _itself(schedule, f"its next fire time is computed anew by the tz database {TZ_VERSION}")


def failure(schedule: Schedule) -> Origin:
    """Return who pauses a schedule whose last job is dead, and why."""
    reason = f"job {schedule.last_job} is dead"
    return Origin(actor(schedule.name), f"job:{schedule.last_job}", reason)


def _itself(schedule: Schedule, reason: str) -> Origin:
    """Return the schedule as who acts."""
    itself = actor(schedule.name)
    return Origin(itself, itself, reason)
