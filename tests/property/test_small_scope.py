"""Exhaustive small scope: three workers, one job, three attempts, every order of everything that can happen."""

from datetime import timedelta

from attrs import evolve as changed

from fencepost.domain import commands as c
from fencepost.domain.decide import decide, renew
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import evolve, fold
from fencepost.domain.job import Job
from fencepost.domain.limits import CANCEL_GRACE
from fencepost.domain.token import Token
from fencepost.domain.verdicts import Trace, judge
from fencepost.domain.vocabulary import TERMINAL, CommandName, EventName, State, Verdict
from support.exploration import NOW, TICK, Explorer, Scene, Step, birth, first_job, what_matters
from support.figures import Note

FAILING = {CommandName.FAIL, CommandName.TIMEOUT, CommandName.EXPIRE}


def test_every_interleaving_of_three_workers_keeps_its_promises(note: Note) -> None:
    """In every reachable state: one lease at most, zombies refused, budget kept, the row what its events say."""
    explorer = Explorer(workers=3, attempts=3)
    scenes = 0
    for scene, command, step in explorer.explore():
        job = explorer.jobs[scene.job]
        if command is None or step is None:
            scenes += 1
            _check_scene(scene, job)
        else:
            _check_step(scene, job, command, step, explorer.jobs[step.after])
    for number in range(len(explorer.jobs)):
        _check_fold(explorer, number)
    note(f"exploration, 3 workers x 1 job x 3 attempts: {scenes:,} states, {explorer.steps:,} steps")
    assert scenes > 35_000


def _check_fold(explorer: Explorer, number: int) -> None:
    """Live through a history that leads to this job, by a clock that really moves: its fold is the row."""
    now, job, events = NOW, first_job(explorer.max_attempts), [birth(explorer.max_attempts)]
    for step in explorer.path(number):
        if step is None:
            now += TICK
        elif isinstance(step, Token):
            job = renew(job, step, now, CANCEL_GRACE) or job
        else:
            event = decide(job, _shifted(step, now - NOW), now)
            assert isinstance(event, JobEvent)
            job = evolve(job, event)
            events.append(event)
    _check_row(explorer.jobs[number], job, fold(events), now - NOW)


def _shifted(command: c.Command, passed: timedelta) -> c.Command:
    if isinstance(command, c.Edit) and command.run_at is not None:
        return changed(command, run_at=command.run_at + passed)
    return command


def _check_row(explored: Job, job: Job, folded: Job | None, passed: timedelta) -> None:
    assert folded is not None
    if job.state is State.RUNNING:
        folded = changed(folded, lease_expires_at=job.lease_expires_at, heartbeats=job.heartbeats)
    assert folded == job
    moments = ("run_at", "lease_expires_at", "cancel_requested_at")
    backdated = {name: value and value - passed for name in moments for value in [getattr(job, name)]}
    assert what_matters(changed(job, **backdated)) == explored


def _check_scene(scene: Scene, job: Job) -> None:
    """A lease is open exactly while the job runs, and it is the last grant's."""
    assert (job.state is State.RUNNING) is (scene.open_attempt is not None)
    assert job.attempt == len(scene.granted)
    assert all(ending is not None for ending in scene.ended_by[:-1])
    for field in (job.claim_id, job.lease_expires_at, job.worker):
        assert (field is not None) is (job.state is State.RUNNING)
    assert job.failures <= job.max_attempts
    assert job.failures < job.max_attempts or job.state in {State.DEAD, State.CANCELLED}


def _check_step(scene: Scene, job: Job, command: c.Command, step: Step, after: Job) -> None:
    accepted = step.verdict is Verdict.ACCEPTED
    if isinstance(command, c.Report):
        _check_report(scene, job, command, step)
    if not accepted:
        assert after == job
        return
    if isinstance(command, c.Claim):
        assert scene.open_attempt is None
        assert job.run_at <= NOW
        assert after.attempt == job.attempt + 1
    if isinstance(command, c.Expire):
        assert job.lease_expires_at is not None
        assert job.lease_expires_at < NOW
    if job.state in TERMINAL and after.state not in TERMINAL:
        assert step.event is EventName.REQUEUED
    _check_budget(job, command, after)


def _check_report(scene: Scene, job: Job, report: c.Report, step: Step) -> None:
    """The open lease's token is accepted; any other is refused and answered from history."""
    attempt = report.token.attempt
    opens = report.token.claim_id != "forged" and attempt == scene.open_attempt
    wanted = opens and (job.cancel_requested or report.name is not CommandName.CONFIRM_CANCEL)
    assert (step.verdict is Verdict.ACCEPTED) is wanted
    if not opens:
        granted = report.token.claim_id != "forged"
        trace = Trace(exists=True, granted=granted, ended_by=scene.ended_by[attempt - 1] if granted else None)
        repeated = granted and trace.ended_by is report.name
        assert judge(trace, report.name) is (Verdict.ALREADY_APPLIED if repeated else Verdict.REFUSED)


def _check_budget(job: Job, command: c.Command, after: Job) -> None:
    if command.name is CommandName.REQUEUE:
        assert after.failures == 0
        return
    spent = 1 if command.name in FAILING else 0
    assert after.failures == job.failures + spent
    if spent:
        expected = State.PENDING if after.failures < job.max_attempts else State.DEAD
        assert after.state is (State.CANCELLED if job.cancel_requested else expected)
    if command.name in {CommandName.SNOOZE, CommandName.RELEASE}:
        assert after.idle_returns == job.idle_returns + 1
