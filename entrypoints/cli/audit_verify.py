"""`fencepost audit verify`."""

from typing import TYPE_CHECKING, Annotated, Any

from attrs import asdict
from cyclopts import Parameter

from ...domain.errors import JobNotFound
from .exits import FAILED, OK
from .flags import PLAIN, Flags
from .output import Note, chosen, emit_many, emit_one
from .schedules.lateness import CURE
from .session import session
from .terminal import say

if TYPE_CHECKING:
    from ...domain.invariants import Report

COLUMNS = ("kind", "invariant", "job_id", "seq", "position")
WHAT = Note("what", lambda violation: str(violation["what"]))


async def verify(
    *, job: Annotated[int | None, Parameter(help="Only this job's history.")] = None, flags: Flags = PLAIN
) -> int:
    """Check the history against the invariants: jobs, and schedules with the ledger of their fire times.

    The exit code is 0 when there is no violation and no alert, 1 when there is: an alert is a fire time that has waited
    for its decision for more than a minute. With --job only that job is judged and the row of the ledger that names it.
    """
    from ...application.verifying import verify as judge  # noqa: PLC0415 - --help needs no invariants

    async with session(flags) as container:
        report = await judge(container.event_log(), job_id=job)
    if job is not None and report.clean and not report.jobs:
        raise JobNotFound(f"there is no job {job}")
    _show(report, flags)
    say(_verdict(report))
    return OK if _in_order(report) else FAILED


def _show(report: "Report", flags: Flags) -> None:
    lists = {
        "violations": [asdict(violation) for violation in report.violations],
        "alerts": [asdict(alert) for alert in report.alerts],
        "unverifiable": [asdict(question) for question in report.unverifiable],
    }
    if chosen(flags.output) != "table":
        emit_one(flags.output, _counts(report) | lists)
        return
    emit_one("table", _counts(report))
    found = [
        {"kind": kind.replace("_", " ").rstrip("s"), **one} for kind, ones in lists.items() for one in ones
    ]
    if found:
        emit_many("table", found, COLUMNS, WHAT)


def _in_order(report: "Report") -> bool:
    """Whether no promise is broken and no fire time is late."""
    return report.clean and not report.alerts


def _counts(report: "Report") -> dict[str, Any]:
    return {
        "clean": _in_order(report),
        "events": report.events,
        "jobs": report.jobs,
        "events_by_name": dict(report.events_by_name),
        "jobs_by_state": {state.value: count for state, count in report.jobs_by_state.items()},
        "schedules": report.schedules,
        "firings": report.firings,
        "violations_by_invariant": dict(report.counts),
        "clock_steps": len(report.clock_steps),
        "late_fire_times": len(report.alerts),
        "not_verifiable": len(report.unverifiable),
    }


def _verdict(report: "Report") -> str:
    found = sum(report.counts.values())
    what = f"{report.events} events of {report.jobs} jobs"
    if report.schedules:
        what += f", {report.firings} decisions of {report.schedules} schedules"
    late = f", late schedules: {len(report.alerts)} ({CURE})" if report.alerts else ""
    return f"verified {what}: {found or 'no'} violations{late}"
