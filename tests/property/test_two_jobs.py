"""Small scope with batches: two workers, two jobs, every order of claims, reports, reaps and cancels."""

import pytest
from attrs import evolve as changed

from fencepost.domain import commands as c
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import fold
from fencepost.domain.invariants import check
from fencepost.domain.job import Job
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State, Verdict
from support.figures import Note
from support.pairs import Explorer, Snapshot, Step


def test_every_interleaving_of_one_attempt_each_keeps_its_promises(note: Note) -> None:
    """Two jobs with one attempt each: every state's log passes the checker, every answer fits the books."""
    _explore(Explorer(workers=2, jobs=2, attempts=1), note)


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_every_interleaving_of_two_attempts_each_keeps_its_promises(note: Note) -> None:
    """The same with two attempts each."""
    _explore(Explorer(workers=2, jobs=2, attempts=2), note)


def _explore(explorer: Explorer, note: Note) -> None:
    for step in explorer.explore():
        if isinstance(step.call, list):
            _check_reports(step)
        elif isinstance(step.call, int):
            _check_reap(step)
        if step.new:
            _check_log(step.after)
    note(
        f"exploration, {explorer.workers} workers x {explorer.jobs} jobs x {explorer.attempts} attempts: "
        f"{explorer.states:,} states, {explorer.steps:,} steps"
    )


def _check_reports(step: Step) -> None:
    """A report is accepted when its token's lease is open; else the first answer wins."""
    books = {token: ended_by for token, _, ended_by in step.before.granted()}
    for report, verdict in zip(step.call, step.answer, strict=True):
        ended_by = books[report.token]
        job = step.before.database.jobs[report.token.job_id]
        if ended_by is None:
            unasked = isinstance(report, c.ConfirmCancel) and not job.cancel_requested
            assert verdict is (Verdict.REFUSED if unasked else Verdict.ACCEPTED)
        else:
            assert verdict is (Verdict.ALREADY_APPLIED if ended_by is report.name else Verdict.REFUSED)
            assert step.after.database.jobs[job.job_id] == job


def _check_reap(step: Step) -> None:
    """The reaper takes what has lapsed, in order of job_id, and nothing else."""
    jobs, now = step.before.database.jobs, step.before.now
    lapsed = [job_id for job_id, job in jobs.items() if job.lease_expires_at and job.lease_expires_at < now]
    touched = [job_id for job_id, job in step.after.database.jobs.items() if job != jobs[job_id]]
    assert touched == lapsed[: step.call]
    assert step.answer == len(touched)


def _check_log(snapshot: Snapshot) -> None:
    """The whole log passes the checker, rows are the fold of their events, leases are open where the books say so."""
    database = snapshot.database
    items: list[JobEvent | Job] = []
    for job_id, job in database.jobs.items():
        items += [*database.job_events[job_id], job]
    assert check(items, database.control_events, snapshot.now).violations == ()
    holding = [token for token, _, ended_by in snapshot.granted() if ended_by is None]
    assert len({token.job_id for token in holding}) == len(holding)
    for job_id, job in database.jobs.items():
        _check_row(database.job_events[job_id], job, holding)


def _check_row(events: list[JobEvent], job: Job, holding: list[Token]) -> None:
    folded = fold(events)
    assert folded is not None
    if job.state is State.RUNNING:
        assert job.token in holding
        folded = changed(folded, lease_expires_at=job.lease_expires_at, heartbeats=job.heartbeats)
    assert folded == job
