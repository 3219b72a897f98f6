"""`fencepost audit verify`."""

from typing import TYPE_CHECKING, Annotated, Any

from attrs import asdict
from cyclopts import Parameter

from ...domain.errors import JobNotFound
from .exits import FAILED, OK
from .flags import PLAIN, Flags
from .output import Note, chosen, emit_many, emit_one
from .session import session
from .terminal import say

if TYPE_CHECKING:
    from ...domain.invariants import Report

COLUMNS = ("invariant", "job_id", "seq", "position")
WHAT = Note("what", lambda violation: str(violation["what"]))


async def verify(
    *, job: Annotated[int | None, Parameter(help="Only this job's history.")] = None, flags: Flags = PLAIN
) -> int:
    """Check the history against the invariants; the exit code is 0 when there is no violation, 1 when there is."""
    from ...application.verifying import verify as judge  # noqa: PLC0415 - --help needs no invariants

    async with session(flags) as container:
        report = await judge(container.event_log(), job_id=job)
    if job is not None and report.clean and not report.jobs:
        raise JobNotFound(f"there is no job {job}")
    _show(report, flags)
    say(_verdict(report))
    return OK if report.clean else FAILED


def _show(report: "Report", flags: Flags) -> None:
    violations = [asdict(violation) for violation in report.violations]
    if chosen(flags.output) != "table":
        emit_one(flags.output, _counts(report) | {"violations": violations})
        return
    emit_one("table", _counts(report))
    if violations:
        emit_many("table", violations, COLUMNS, WHAT)


def _counts(report: "Report") -> dict[str, Any]:
    return {
        "clean": report.clean,
        "events": report.events,
        "jobs": report.jobs,
        "events_by_name": dict(report.events_by_name),
        "jobs_by_state": {state.value: count for state, count in report.jobs_by_state.items()},
        "violations_by_invariant": dict(report.counts),
        "clock_steps": len(report.clock_steps),
    }


def _verdict(report: "Report") -> str:
    found = sum(report.counts.values())
    return f"verified {report.events} events of {report.jobs} jobs: {found or 'no'} violations"
