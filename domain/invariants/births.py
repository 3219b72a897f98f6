"""Jobs that schedules have made, beside the rows of the ledger that name them: I27, I30, and I7 for their template."""

from collections.abc import Iterator, Sequence

from ..event import JobEvent
from ..firing import AT_ONCE, Outcome
from ..firing_jobs import ACTOR, effect_key
from ..ledger_rows import LedgerRow
from ..schedule import CRON
from .course import Course
from .inquiry import Inquiry, Violation
from .stints import Stint
from .surroundings import Surroundings
from .texts import FACTS

_MADE = frozenset({*AT_ONCE, Outcome.QUEUED})
_OF_TEMPLATE = tuple(fact for fact in FACTS if fact != "effect_key")


def check_birth(course: Course, entries: Sequence[LedgerRow], inquiry: Inquiry) -> None:
    """I27, I30: a job that a schedule has made is that of one row of the ledger, no other job is of any."""
    birth = course.birth
    if birth is None:
        for entry in entries:
            what = f"{_said(entry)} names it, but {entry.schedule} has not made it"
            inquiry.note(Violation("I30", course.job_id, 1, None, what))
        return
    if not entries:
        inquiry.add("I30", birth, f"made by {birth.actor}, but no row of the ledger names it")
    elif len(entries) > 1:
        inquiry.add("I27", birth, f"{len(entries)} rows of the ledger name it")
    for entry in entries:
        for fault in _row_faults(course, birth, entry):
            inquiry.add("I30", birth, f"{_said(entry)}: {fault}")
        for invariant, fault in _stint_faults(birth, entry, inquiry.known):
            _doubt(invariant, f"{_said(entry)}: {fault}", birth, entry, inquiry)


def check_missing(entry: LedgerRow, inquiry: Inquiry) -> None:
    """I30: a job that the ledger names is there, or was pruned."""
    job_id = entry.job_id
    assert job_id is not None
    lost = Violation("I30", job_id, None, None, f"{_said(entry)} names it, but it is not there")
    inquiry.note(lost, lambda known: known.pruned(job_id))


def _doubt(invariant: str, what: str, birth: JobEvent, entry: LedgerRow, inquiry: Inquiry) -> None:
    """Report a fault unless a later look, which may know of more changes, finds none."""

    def cleared(known: Surroundings) -> bool:
        return all(found != invariant for found, _ in _stint_faults(birth, entry, known))

    inquiry.doubt(invariant, birth, what, cleared)


def _row_faults(course: Course, birth: JobEvent, entry: LedgerRow) -> Iterator[str]:
    """Say where the job and the row differ."""
    name = birth.actor.removeprefix(ACTOR)
    if entry.schedule != name:
        yield f"the job is of {birth.actor}"
    if course.scheduled_for != entry.fire_at:
        yield f"the job serves {course.scheduled_for}"
    if birth.data.get("effect_key") != effect_key(name, entry.fire_at, entry.origin):
        yield f"the job's effect key is {birth.data.get('effect_key')}"
    if entry.outcome not in _MADE:
        yield f"{entry.outcome}, but it has a job"
    if entry.outcome in AT_ONCE and entry.decided_at != birth.at:
        yield f"decided at {entry.decided_at}, the job was made at {birth.at}"


def _stint_faults(birth: JobEvent, entry: LedgerRow, known: Surroundings) -> Iterator[tuple[str, str]]:
    """Say why the schedule, as it was then, could not make the job."""
    if birth.position is None:
        return
    stint = known.stint(birth.actor.removeprefix(ACTOR), birth.position)
    if stint is None or not stint.exists:
        yield "I25", "there was no such schedule then"
        return
    at_once = entry.outcome in AT_ONCE
    if not stint.active and not (at_once and entry.origin != CRON):
        yield "I28", "the schedule was paused then"
    if at_once and entry.version != stint.version:
        yield "I30", f"decided by version {entry.version}, {stint.version} was in force"
    for name in _differing(birth, stint):
        if name == "priority" and entry.outcome == Outcome.BACKFILLED:  # a backfill may have one of its own
            continue
        yield "I7", f"{name} is not the template's"


def _differing(birth: JobEvent, stint: Stint) -> list[str]:
    if stint.terms is None:
        return []
    template = stint.terms.template
    return [name for name in _OF_TEMPLATE if birth.data.get(name) != template.get(name)]


def _said(entry: LedgerRow) -> str:
    return f"schedule {entry.schedule}, fire time {entry.fire_at} by {entry.origin}"
