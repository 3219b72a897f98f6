"""What to answer a report whose token opens nothing any more."""

from attrs import frozen

from .vocabulary import CommandName, Verdict


@frozen
class Trace:
    """What history knows about a token: was it granted, and which command ended its attempt."""

    exists: bool
    granted: bool = False
    ended_by: CommandName | None = None


def judge(trace: Trace, command: CommandName) -> Verdict:
    """Answer a mismatched report: the first answer wins, so the same command again is ``already_applied``."""
    if not trace.exists:
        return Verdict.GONE
    if trace.ended_by is command:
        return Verdict.ALREADY_APPLIED
    return Verdict.REFUSED


def leaves_evidence(trace: Trace, command: CommandName) -> bool:
    """Whether the refusal is written to ``control_events``: only for tokens that were once granted."""
    return trace.granted and judge(trace, command) is Verdict.REFUSED
