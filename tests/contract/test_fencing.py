"""Reports whose token opens nothing: who gets which answer, and what evidence stays."""

from datetime import timedelta

import pytest

from fencepost.application.ports.job_store import ClaimedJob
from fencepost.domain import commands as c
from fencepost.domain.event import ControlEvent
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import ControlEventName, EventName, Verdict
from support.asking import claim, claim_one, submit, succeed
from support.asks import ELSEWHERE
from support.crowd import OPERATOR, WORKER
from support.reports import ERROR, one_of_each
from support.stores import Clock, Stores

SECOND = timedelta(seconds=1)


async def _lapsed(stores: Stores, clock: Clock) -> ClaimedJob:
    """A job whose lease was reaped half a second after it lapsed."""
    job = await claim_one(stores)
    clock.advance(30.5 * SECOND)
    assert await stores.jobs.reap(10, [0.0] * 10) == 1
    return job


async def test_a_zombies_report_changes_nothing_and_leaves_evidence(stores: Stores, clock: Clock) -> None:
    """The row and its history stay as they are; one control event says who came, with which token, how late."""
    token = (await _lapsed(stores, clock)).token
    before = await stores.reader.get(token.job_id), await stores.log.history(token.job_id)
    clock.advance(2 * SECOND)
    assert await succeed(stores, token) is Verdict.REFUSED
    assert (await stores.reader.get(token.job_id), await stores.log.history(token.job_id)) == before
    (evidence,) = await stores.log.evidence(token.job_id)
    assert isinstance(evidence, ControlEvent)
    assert (evidence.name, evidence.subject) == (ControlEventName.REPORT_REFUSED, f"job:{token.job_id}")
    assert (evidence.actor, evidence.at) == (WORKER.actor, clock())
    assert evidence.data == {
        "attempt": 1,
        "claim_id": token.claim_id,
        "command": "succeed",
        "late_us": 2_000_000,
    }


async def test_a_zombie_is_refused_while_another_holds_the_job(stores: Stores, clock: Clock) -> None:
    """B083: The first worker's late success does not end the second worker's attempt."""
    zombie = (await _lapsed(stores, clock)).token
    (holder,) = (await claim(stores)).jobs
    assert await succeed(stores, zombie) is Verdict.REFUSED
    assert await succeed(stores, holder.token) is Verdict.ACCEPTED


async def test_evidence_is_kept_once_per_token_and_command(stores: Stores, clock: Clock) -> None:
    """Repeating a refused report adds nothing; another command or attempt does."""
    token = (await _lapsed(stores, clock)).token
    for _ in range(3):
        for report in one_of_each(token, WORKER, delay=SECOND):
            assert list(await stores.jobs.report([report])) == [Verdict.REFUSED]
    commands = [event.data["command"] for event in await stores.log.evidence(token.job_id)]
    assert sorted(commands) == sorted(report.name for report in one_of_each(token, WORKER, delay=SECOND))


@pytest.mark.parametrize("kind", ["attempt to come", "attempt never claimed", "claim nobody made"])
async def test_a_token_never_granted_leaves_no_evidence(stores: Stores, kind: str) -> None:
    """Only tokens that were once granted are worth a record."""
    token = (await claim_one(stores)).token
    wrong = {
        "attempt to come": Token(token.job_id, 2, token.claim_id),
        "attempt never claimed": Token(token.job_id, 0, token.claim_id),
        "claim nobody made": Token(token.job_id, 1, ELSEWHERE),
    }[kind]
    assert await succeed(stores, wrong) is Verdict.REFUSED
    assert list(await stores.log.evidence(token.job_id)) == []


async def test_the_first_answer_wins(stores: Stores) -> None:
    """The same command again is ``already_applied`` without a trace; another command is refused with one."""
    token = (await claim_one(stores)).token
    assert await succeed(stores, token) is Verdict.ACCEPTED
    assert await succeed(stores, token) is Verdict.ALREADY_APPLIED
    assert list(await stores.log.evidence(token.job_id)) == []
    fail = c.Fail(origin=WORKER, token=token, error=ERROR)
    assert list(await stores.jobs.report([fail])) == [Verdict.REFUSED]
    assert [event.data["command"] for event in await stores.log.evidence(token.job_id)] == ["fail"]


async def test_a_snooze_is_recognised_long_after(stores: Stores, clock: Clock) -> None:
    """The same attempt's ending answers a repeated report, also when later attempts have ended otherwise."""
    first = (await claim_one(stores)).token
    snooze = c.Snooze(origin=WORKER, token=first, delay=SECOND)
    assert list(await stores.jobs.report([snooze])) == [Verdict.ACCEPTED]
    clock.advance(SECOND)
    (second,) = (await claim(stores)).jobs
    assert list(await stores.jobs.report([snooze])) == [Verdict.ALREADY_APPLIED]
    assert await succeed(stores, second.token) is Verdict.ACCEPTED
    assert list(await stores.jobs.report([snooze])) == [Verdict.ALREADY_APPLIED]


@pytest.mark.unproven("it sets idle_returns to what would take a thousand claims")
async def test_a_snooze_that_counted_as_a_failure_is_still_that_snooze(stores: Stores) -> None:
    """Beyond the cap the event is ``failed``, but a repeated report names the command."""
    answer = await submit(stores)
    await stores.alter([answer.job_id], {"idle_returns": 1_000})
    (job,) = (await claim(stores)).jobs
    snooze = c.Snooze(origin=WORKER, token=job.token, delay=SECOND)
    assert list(await stores.jobs.report([snooze])) == [Verdict.ACCEPTED]
    event = (await stores.log.history(answer.job_id))[-1]
    assert (event.name, event.data["error"]["type"]) == (EventName.FAILED, "snooze_cap")
    assert list(await stores.jobs.report([snooze])) == [Verdict.ALREADY_APPLIED]


async def test_a_lapsed_lease_that_nobody_reaped_still_counts(stores: Stores, clock: Clock) -> None:
    """The token, not the clock, decides."""
    token = (await claim_one(stores)).token
    clock.advance(timedelta(days=1))
    assert await succeed(stores, token) is Verdict.ACCEPTED


async def test_confirming_a_cancel_nobody_requested_is_refused_without_evidence(stores: Stores) -> None:
    """The token opens the job, the command does not: nothing to be proved about fencing."""
    token = (await claim_one(stores)).token
    confirm = c.ConfirmCancel(origin=WORKER, token=token)
    assert list(await stores.jobs.report([confirm])) == [Verdict.REFUSED]
    assert list(await stores.log.evidence(token.job_id)) == []
    assert await succeed(stores, token) is Verdict.ACCEPTED


async def test_a_job_that_does_not_exist_is_gone(stores: Stores) -> None:
    """Reports and operations on nothing are answered ``gone``, a heartbeat is refused."""
    token = Token(987_654, 1, ELSEWHERE)
    assert await succeed(stores, token) is Verdict.GONE
    assert list(await stores.jobs.operate([987_654], c.Cancel(origin=OPERATOR))) == [Verdict.GONE]
    (answer,) = await stores.jobs.heartbeat([token])
    assert (answer.verdict, answer.cancel_requested) == (Verdict.REFUSED, False)


async def test_two_reports_on_one_job_in_a_batch_are_a_mistake(stores: Stores) -> None:
    """The batch is refused as a whole: a programming error, not a race."""
    token = (await claim_one(stores)).token
    report = c.Succeed(origin=WORKER, token=token)
    with pytest.raises(ValueError, match="one report per job"):
        await stores.jobs.report([report, report])
    assert await succeed(stores, token) is Verdict.ACCEPTED


async def test_a_heartbeat_tells_of_a_cancel_request_and_of_a_lost_lease(
    stores: Stores, clock: Clock
) -> None:
    """One answer per token, in the order given, duplicates and zombies included."""
    first = (await claim_one(stores)).token
    clock.advance(30.5 * SECOND)
    await stores.jobs.reap(1, [0.0])
    (job,) = (await claim(stores)).jobs
    other = (await claim_one(stores)).token
    await stores.jobs.operate([job.token.job_id], c.Cancel(origin=OPERATOR))
    answers = await stores.jobs.heartbeat([first, job.token, other, job.token])
    assert [(answer.verdict, answer.cancel_requested) for answer in answers] == [
        (Verdict.REFUSED, False),
        (Verdict.ACCEPTED, True),
        (Verdict.ACCEPTED, False),
        (Verdict.ACCEPTED, True),
    ]
    row = await stores.reader.get(job.token.job_id)
    assert row is not None
    assert row.heartbeats == 1


async def test_a_cancelled_jobs_lease_ends_after_the_grace(stores: Stores, clock: Clock) -> None:
    """30 seconds after the request heartbeats are still answered but no longer extend the lease."""
    token = (await claim_one(stores)).token
    await stores.jobs.operate([token.job_id], c.Cancel(origin=OPERATOR))
    ends = []
    for _ in range(5):
        clock.advance(10 * SECOND)
        (answer,) = await stores.jobs.heartbeat([token])
        job = await stores.reader.get(token.job_id)
        assert job is not None
        assert (answer.verdict, answer.cancel_requested) == (Verdict.ACCEPTED, True)
        ends.append(job.lease_expires_at)
    assert ends[3] == ends[4] == ends[2]
    assert ends[2] == clock() - 20 * SECOND + 30 * SECOND
