"""One row of the ledger by itself: whether the policies in force could have led to it (I28)."""

from collections.abc import Iterator
from datetime import timedelta

from ..firing import AT_ONCE, RANGES, Outcome, Reason
from ..ledger_rows import LedgerRow
from ..schedule import CRON, MISSED_AFTER, Missed, Overlap, Policies

_OUTCOMES = frozenset(Outcome)
_NOTHING = timedelta(0)


def shape_faults(entry: LedgerRow) -> Iterator[str]:
    """Say what no row has, whatever it tells of."""
    if entry.outcome not in _OUTCOMES:
        yield f"no decision is called {entry.outcome}"
        return
    if entry.outcome in AT_ONCE and entry.job_id is None:
        yield f"{entry.outcome} without a job"
    if entry.outcome in RANGES and entry.job_id is not None:
        yield f"{entry.outcome} with job {entry.job_id}"
    one = entry.until == entry.fire_at
    if entry.count < 1 or entry.until < entry.fire_at or (entry.count == 1) is not one:
        yield f"{entry.count} fire times to {entry.until}"
    elif not one and entry.outcome not in RANGES:
        yield f"{entry.outcome} for {entry.count} fire times at once"
    if entry.origin == CRON and entry.decided_at < entry.fire_at:
        yield f"decided {entry.fire_at - entry.decided_at} before it was due"


def policy_faults(entry: LedgerRow, policies: Policies) -> Iterator[str]:
    """Say why the clock's row cannot be: the policies, and how late it was decided, give another decision or reason."""
    late = entry.decided_at - entry.fire_at
    if not _is_possible(entry, policies):
        yield f"{entry.outcome} ({entry.reason}) although missed is {policies.missed} and overlap {policies.overlap}"
    if entry.reason == Reason.DUE and late > MISSED_AFTER:
        yield f"said to be on time, decided {late} late"
    if entry.reason == Reason.MISSED and _NOTHING <= late <= MISSED_AFTER:
        yield f"said to be missed, decided {late} after it was due"
    window = policies.catchup_window
    if entry.reason == Reason.WINDOW and (window is None or late <= max(window, MISSED_AFTER)):
        yield f"said to be outside of the window of {window}, decided {late} late"
    outside = window is not None and late > max(window, MISSED_AFTER)
    if outside and entry.reason in (Reason.DUE, Reason.MISSED):
        yield f"{entry.outcome} ({entry.reason}) {late} late, outside of the window of {window}"


def _is_possible(entry: LedgerRow, policies: Policies) -> bool:
    missed, overlap = policies.missed, policies.overlap
    match entry.outcome, entry.reason:
        case (Outcome.FIRED, Reason.DUE):
            return True
        case (Outcome.FIRED, Reason.MISSED):
            return missed is not Missed.SKIP
        case (Outcome.QUEUED, Reason.DUE | Reason.MISSED as reason):
            waits = overlap in (Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING)
            return waits and (reason == Reason.DUE or missed is not Missed.SKIP)
        case (Outcome.COALESCED, Reason.MISSED):
            return missed is Missed.LATEST
        case (Outcome.SKIPPED, Reason.MISSED):
            return missed is Missed.SKIP
        case (Outcome.SKIPPED, Reason.OVERLAP):
            return overlap is not Overlap.ALLOW
        case (Outcome.SKIPPED, Reason.WINDOW | Reason.EDITED):
            return True
        case _:
            return False
