"""The fold refuses histories that cannot be."""

from datetime import UTC, datetime

import pytest
from attrs import evolve as changed

from fencepost.domain import commands as c
from fencepost.domain.decide import decide, enqueue
from fencepost.domain.errors import HistoryError
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import evolve, fold
from fencepost.domain.job import Specification
from fencepost.domain.vocabulary import CommandName, EventName, State

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ANN = c.Origin("user:ann")
BORN = enqueue(c.Submit(origin=ANN, specification=Specification(type="t")), 1, NOW)


def _claimed() -> JobEvent:
    event = decide(fold([BORN]), c.Claim(origin=ANN, claim_id="c"), NOW)
    assert isinstance(event, JobEvent)
    return event


def test_no_events_are_no_job() -> None:
    """An empty history folds to nothing."""
    assert fold([]) is None


def test_a_life_folds_into_its_row() -> None:
    """Submit and claim give a running job in its first attempt."""
    job = fold([BORN, _claimed()])
    assert job is not None
    assert (job.state, job.attempt, job.worker, job.seq) == (State.RUNNING, 1, "user:ann", 2)


@pytest.mark.parametrize(
    "history",
    [
        [_claimed()],
        [BORN, BORN],
        [BORN, _claimed(), _claimed()],
        [BORN, changed(_claimed(), seq=3)],
        [BORN, changed(_claimed(), job_id=2)],
        [changed(BORN, run_at=None)],
    ],
    ids=["no birth", "two births", "seq repeated", "seq skipped", "another job's", "no run_at"],
)
def test_an_impossible_history_is_an_error(history: list[JobEvent]) -> None:
    """Gaps, repetitions and strangers are named, never folded over."""
    with pytest.raises(HistoryError, match=r"job \d"):
        fold(history)


def test_events_know_what_caused_them() -> None:
    """Most names imply their command; ``failed`` and ``cancelled`` carry it."""
    assert BORN.caused_by is CommandName.SUBMIT
    assert _claimed().caused_by is CommandName.CLAIM
    cancelled = decide(fold([BORN]), c.Cancel(origin=ANN), NOW)
    assert isinstance(cancelled, JobEvent)
    assert (cancelled.name, cancelled.caused_by) == (EventName.CANCELLED, CommandName.CANCEL)


def test_a_row_without_its_lease_has_no_token() -> None:
    """Only a running job has a token, and it names the open claim."""
    pending = fold([BORN])
    running = evolve(pending, _claimed())
    assert pending is not None
    assert pending.token is None
    assert running.token is not None
    assert (running.token.attempt, running.token.claim_id) == (1, "c")
