"""``decide`` and ``evolve`` over everything that can be asked, and more."""

from datetime import datetime, timedelta

from attrs import evolve as changed
from hypothesis import given

from fencepost.domain import commands as c
from fencepost.domain.decide import Refusal, decide, enqueue, matching_rule
from fencepost.domain.evolve import evolve, fold
from fencepost.domain.job import Job
from fencepost.domain.retry import RetryPolicy, backoff, longest, microseconds
from fencepost.domain.transitions import MOVES, RULES
from fencepost.domain.vocabulary import EventName, State, Verdict
from support.strategies import any_jobs, commands, draws, moments, near_moments, policies, reports, submits


@given(any_jobs(), commands, near_moments)
def test_every_pair_of_job_and_command_gets_an_answer(job: Job, command: c.Command, now: datetime) -> None:
    """Whatever the row says, the answer is a legal next event that evolve accepts, or a refusal."""
    decision = decide(job, command, now)
    if isinstance(decision, Refusal):
        assert decision.verdict in {Verdict.REFUSED, Verdict.ALREADY_APPLIED}
        return
    after = evolve(job, decision)
    assert (job.state, decision.name, decision.state) in MOVES
    assert (after.state, after.seq, after.failures) == (decision.state, job.seq + 1, decision.failures)
    assert decision.caused_by is command.name
    assert (decision.run_at is not None) is (decision.state is State.PENDING)


@given(any_jobs(moments), commands, moments)
def test_no_year_is_too_late_to_decide(job: Job, command: c.Command, now: datetime) -> None:
    """A clock anywhere between 1970 and a century before the end of the calendar overflows nothing."""
    decision = decide(job, command, now)
    assert isinstance(decision, Refusal) or evolve(job, decision).seq == job.seq + 1


@given(any_jobs(), commands, near_moments)
def test_at_most_one_rule_matches(job: Job, command: c.Command, now: datetime) -> None:
    """The table's order carries no meaning: reversing it changes no answer."""
    from fencepost.domain.conditions import PREDICATES

    matching = [
        rule
        for rule in RULES
        if (rule.command, rule.source) == (command.name, job.state)
        and all(PREDICATES[condition](job, command, now) is wanted for condition, wanted in rule.when.items())
    ]
    assert len(matching) <= 1
    assert matching_rule(job, command, now) == (matching[0] if matching else None)


@given(any_jobs(), commands, near_moments)
def test_a_decision_depends_on_nothing_but_its_arguments(job: Job, command: c.Command, now: datetime) -> None:
    """The same question gets the same answer, down to the last field."""
    assert decide(job, command, now) == decide(job, command, now)


@given(any_jobs(), reports, near_moments)
def test_a_report_moves_only_the_job_whose_token_it_carries(
    job: Job, report: c.Report, now: datetime
) -> None:
    """An accepted report carried the job's own token."""
    decision = decide(job, report, now)
    assert isinstance(decision, Refusal) or report.token == job.token


@given(any_jobs(), commands, near_moments)
def test_attempt_never_goes_back(job: Job, command: c.Command, now: datetime) -> None:
    """A claim adds one to the attempt; nothing else touches it."""
    decision = decide(job, command, now)
    if not isinstance(decision, Refusal):
        granted = 1 if decision.name is EventName.CLAIMED else 0
        assert evolve(job, decision).attempt == job.attempt + granted


@given(commands, moments)
def test_a_job_that_does_not_exist_is_gone(command: c.Command, now: datetime) -> None:
    """Any command on no job is answered ``gone``."""
    assert decide(None, command, now) == Refusal(Verdict.GONE)


@given(submits, moments)
def test_a_submitted_job_is_what_was_asked_for(command: c.Submit, now: datetime) -> None:
    """The fold of the ``enqueued`` event is the specification, pending, not earlier than asked."""
    job = fold([enqueue(command, 7, now)])
    assert job is not None
    assert job.state is State.PENDING
    assert job.run_at == (command.run_at or now + (command.delay or timedelta(0)))
    for field in command.specification.__attrs_attrs__:
        assert getattr(job, field.name) == getattr(command.specification, field.name)


@given(any_jobs(), draws, near_moments)
def test_an_expired_lease_waits_inside_the_policys_bounds(job: Job, draw: float, now: datetime) -> None:
    """After a first expiry the job is due at once; after later ones within the policy's longest wait."""
    decision = decide(job, c.Expire(origin=c.Origin("reaper"), draw=draw), now)
    if isinstance(decision, Refusal) or decision.run_at is None:
        return
    most = timedelta(0) if job.expiries == 0 else longest(job.retry, job.failures + 1)
    assert timedelta(0) <= decision.run_at - now <= most


@given(any_jobs(), reports, near_moments, near_moments)
def test_the_clock_decides_no_report(job: Job, report: c.Report, now: datetime, later: datetime) -> None:
    """Whether a report is accepted depends on the token, never on when it arrives."""
    first, second = decide(job, report, now), decide(job, report, later)
    assert isinstance(first, Refusal) is isinstance(second, Refusal)


@given(any_jobs(), commands, near_moments, policies, draws)
def test_shifting_every_clock_shifts_only_the_answer(
    job: Job, command: c.Command, now: datetime, policy: RetryPolicy, draw: float
) -> None:
    """Only differences between moments matter, so exploring relative times explores them all."""
    if isinstance(command, c.Edit):
        return
    shift = timedelta(hours=5)
    moved = changed(
        job,
        run_at=job.run_at + shift,
        lease_expires_at=None if job.lease_expires_at is None else job.lease_expires_at + shift,
    )
    first, second = decide(job, command, now), decide(moved, command, now + shift)
    if isinstance(first, Refusal) or isinstance(second, Refusal):
        assert first == second
        return
    assert (first.name, first.state, first.failures) == (second.name, second.state, second.failures)
    assert first.run_at is None or second.run_at == first.run_at + shift
    assert 0 <= microseconds(backoff(policy, 3, draw)) <= microseconds(longest(policy, 3))
