"""What a report is told whose token opens nothing."""

import pytest

from fencepost.domain.verdicts import Trace, judge, leaves_evidence
from fencepost.domain.vocabulary import REPORTS, CommandName, Verdict


@pytest.mark.parametrize("command", sorted(REPORTS))
def test_a_job_that_is_gone_answers_gone(command: CommandName) -> None:
    """Without a row there is nothing to refuse and nothing to prove."""
    assert judge(Trace(exists=False), command) is Verdict.GONE
    assert not leaves_evidence(Trace(exists=False), command)


@pytest.mark.parametrize("command", sorted(REPORTS))
@pytest.mark.parametrize("ended_by", [None, *sorted(CommandName)])
def test_the_first_answer_wins(command: CommandName, ended_by: CommandName | None) -> None:
    """The command that ended the attempt is ``already_applied``; every other one is refused, with evidence."""
    trace = Trace(exists=True, granted=True, ended_by=ended_by)
    same = command is ended_by
    assert judge(trace, command) is (Verdict.ALREADY_APPLIED if same else Verdict.REFUSED)
    assert leaves_evidence(trace, command) is not same


def test_a_token_that_was_never_granted_leaves_no_evidence() -> None:
    """Noise is refused and only counted."""
    trace = Trace(exists=True)
    assert judge(trace, CommandName.SUCCEED) is Verdict.REFUSED
    assert not leaves_evidence(trace, CommandName.SUCCEED)
