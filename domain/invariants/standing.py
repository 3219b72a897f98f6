"""A schedule's row beside its events and its ledger: I29, I30 and I7, and the alert about fire times that wait."""

from collections.abc import Sequence

from ..ledger_rows import ScheduleRow
from ..limits import DECISION_GRACE
from ..schedule import Slot
from ..vocabulary import ControlEventName as Name
from .findings import Findings
from .stints import Changes, Stint
from .walk import Walk


def judge_row(row: ScheduleRow | None, walk: Walk, queued: Sequence[Slot]) -> None:
    """Judge the row when the ledger has been read; ``queued`` are decisions whose job is still to come."""
    changes, findings = walk.changes, walk.findings
    last = changes.last
    if row is None or last is None or not last.exists:
        if row is not None or (last is not None and last.exists):
            findings.note("I30", "its row is missing" if row is None else "a row, but no event tells of it")
        waits = None
    else:
        _judge_facts(row, last, changes, findings)
        _judge_next(row, last, walk)
        waits = row.waiting
    _judge_waiting(waits, queued, findings)


def _judge_facts(row: ScheduleRow, last: Stint, changes: Changes, findings: Findings) -> None:
    if row.version != last.version:
        findings.note("I30", f"row: version is {row.version}, events say {last.version}")
    if last.terms is not None and row.definition != last.terms.definition:
        findings.note("I7", "row: the definition is not the one that events tell of")
    pauses = [stint.at for stint in changes.stints if stint.name is Name.SCHEDULE_PAUSED]
    paused_at = None if last.active or not pauses else pauses[-1]
    if row.paused_at != paused_at:
        findings.note("I30", f"row: paused_at is {row.paused_at}, events say {paused_at}")


def _judge_next(row: ScheduleRow, last: Stint, walk: Walk) -> None:
    """Judge the next fire time: the first of the stint that lasts which has not come up for a decision."""
    upcoming, span = row.next_fire_at, walk.lasting
    if not last.active:
        if upcoming is not None:
            walk.findings.note("I29", f"row: fires next at {upcoming}, events say never")
    elif span is not None:
        if span.following != upcoming:
            what = f"row: fires next at {upcoming or 'no time'}, not at {span.following}"
            walk.mismatch(span, "I29", what, span.tz_version)
        if upcoming is not None and upcoming <= walk.findings.clock - DECISION_GRACE:
            walk.findings.alert("I28", f"fire time {upcoming} has no decision")


def _judge_waiting(waits: Slot | None, queued: Sequence[Slot], findings: Findings) -> None:
    """I30: a queued firing either has its job or is the one that the schedule waits with."""
    for slot in queued:
        if slot != waits:
            findings.note("I30", f"fire time {slot.fire_at} was queued, has no job and is not waited for")
    if waits is not None and waits not in queued:
        findings.note("I30", f"row: waits for {waits.fire_at}, which is not queued")
