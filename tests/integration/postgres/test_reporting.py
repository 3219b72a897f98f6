"""Reports and operations on PostgreSQL: mixed batches, history's answers, many ids."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from fencepost.domain import commands as c
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State, Verdict
from support.figures import Note
from support.proxy import Proxy, Trouble
from support.rig import USER, WORKER, Rig, submission, success

FILL = """
INSERT INTO fencepost.jobs (type, queue, priority, run_at, max_attempts, lease, submitted_at, retry)
SELECT type, queue, priority, run_at, max_attempts, lease, submitted_at, retry
FROM fencepost.jobs, generate_series(1, 69999)
"""


async def test_one_batch_holds_every_command(rig: Rig) -> None:
    """Each job gets its own end, its own actor and its own paper trail, in one statement."""
    await rig.submit(*[submission() for _ in range(6)])
    tokens = await rig.claim(6)
    error = c.JobError("ValueError", 'quotes " and \\ and é, and {braces}', "line 1\nline 2")
    given: list[dict[str, Any]] = [
        {"origin": c.Origin(f"worker:{n}", f"request-{n}"), "token": token} for n, token in enumerate(tokens)
    ]
    reports: list[c.Report] = [
        c.Succeed(**given[0], result='{"text": "\\" \\\\ {}"}'),
        c.Fail(**given[1], error=error, retry_in=timedelta(days=3, microseconds=1)),
        c.Timeout(**given[2], draw=0.25),
        c.Discard(**given[3], error=error),
        c.Snooze(**given[4], delay=timedelta(hours=1)),
        c.Release(**given[5]),
    ]
    assert await rig.jobs.report(reports) == [Verdict.ACCEPTED] * 6
    ends = [(await rig.log.history(token.job_id))[-1] for token in tokens]
    assert [end.name for end in ends] == ["succeeded", "failed", "failed", "died", "snoozed", "released"]
    assert [(end.actor, end.request_id) for end in ends] == [
        (f"worker:{n}", f"request-{n}") for n in range(6)
    ]
    assert ends[0].result == (await rig.job(tokens[0].job_id)).result == '{"text": "\\" \\\\ {}"}'
    assert ends[1].data["error"] == {
        "type": "ValueError",
        "message": error.message,
        "traceback": error.traceback,
    }
    waits = [end.run_at - end.at for end in ends if end.run_at is not None]
    assert waits[:3] == [timedelta(days=3, microseconds=1), timedelta(seconds=2.5), timedelta(hours=1)]


async def test_a_repeated_report_waits_for_nobody_and_learns_its_first_answer(rig: Rig) -> None:
    """The same command again was applied already, another is refused, an unknown job is gone."""
    token = await rig.claimed()
    await rig.jobs.report([success(token)()])
    failed = c.Fail(origin=WORKER, token=token, error=c.JobError("E"))
    assert await rig.jobs.report([success(token)()]) == [Verdict.ALREADY_APPLIED]
    assert await rig.jobs.report([failed]) == [Verdict.REFUSED]
    assert await rig.jobs.report([success(token._replace(job_id=99))()]) == [Verdict.GONE]
    assert [event.data["command"] for event in await rig.log.evidence(token.job_id)] == ["fail"]


async def test_an_answer_from_history_is_written_to_the_log(rig: Rig) -> None:
    """What is answered was locked: on the server, COMMIT then waits for a standby as the first answer did."""
    token = await rig.claimed()
    await rig.jobs.report([success(token)()])
    [(before,)] = await rig.ask("SELECT xmax::text::bigint FROM fencepost.jobs")
    await rig.jobs.report([success(token)()])
    [(after,)] = await rig.ask("SELECT xmax::text::bigint FROM fencepost.jobs")
    assert after > before


async def test_evidence_is_left_once_and_only_for_tokens_that_were_granted(rig: Rig) -> None:
    """Eight late reports at once leave one row; an invented claim id leaves none."""
    token = await rig.claimed()
    await rig.jobs.operate([token.job_id], c.Revoke(origin=USER))
    for stale in (token, token._replace(claim_id=str(uuid4())), token._replace(claim_id="invented")):
        for many in await asyncio.gather(*[rig.jobs.report([success(stale)()]) for _ in range(8)]):
            assert set(many) <= {Verdict.REFUSED, Verdict.BUSY}
    assert await rig.jobs.report([success(token)()]) == [Verdict.REFUSED]
    [left] = await rig.log.evidence(token.job_id)
    assert (left.data["attempt"], left.data["claim_id"]) == (token.attempt, token.claim_id)
    assert left.data["late_us"] > 0


async def test_a_confirmation_nobody_asked_for_is_refused_without_evidence(rig: Rig) -> None:
    """The token is right, the table has no rule: nothing is stale about it."""
    token = await rig.claimed()
    report = c.ConfirmCancel(origin=WORKER, token=token)
    assert await rig.jobs.report([report]) == [Verdict.REFUSED]
    assert await rig.log.evidence(token.job_id) == []
    await rig.jobs.operate([token.job_id], c.Cancel(origin=USER))
    assert await rig.jobs.report([report]) == [Verdict.ACCEPTED]


async def test_two_reports_for_one_job_in_a_batch_are_a_bug(rig: Rig) -> None:
    """It is said at once, nothing is sent."""
    token = await rig.claimed()
    with pytest.raises(ValueError, match="one report per job"):
        await rig.jobs.report([success(token)(), success(token)()])


async def test_what_was_accepted_is_answered_although_the_rest_cannot_be_judged(
    rig: Rig, far_rig: Rig, proxy: Proxy
) -> None:
    """The connection breaks between the two: the rest is busy, which means to ask again."""
    token = await rig.claimed()
    stale = Token(token.job_id + 1, 1, str(uuid4()))
    await rig.submit(submission())
    proxy.trouble("COMMIT", Trouble.REPLY_LOST)
    reports = [success(token)(), success(stale)()]
    assert await far_rig.jobs.report(reports) == [Verdict.ACCEPTED, Verdict.BUSY]
    proxy.cut()
    assert await far_rig.jobs.report(reports) == [Verdict.ALREADY_APPLIED, Verdict.REFUSED]


@pytest.mark.unproven("rows without events stand in for 70,000 submits")
@pytest.mark.timeout(300)
async def test_seventy_thousand_jobs_are_cancelled_with_one_call(rig: Rig, note: Note) -> None:
    """B123: arrays, not a parameter each; locked ones are busy, unknown ones gone."""
    await rig.submit(submission())
    await rig.ask(FILL)
    async with await psycopg.AsyncConnection.connect(rig.dsn) as other:
        await other.execute("SELECT FROM fencepost.jobs WHERE job_id = 35000 FOR UPDATE")
        verdicts = await rig.jobs.operate(range(1, 70_002), c.Cancel(origin=USER))
    assert verdicts.count(Verdict.ACCEPTED) == 69_999
    assert (verdicts[34_999], verdicts[70_000]) == (Verdict.BUSY, Verdict.GONE)
    assert (await rig.job(70_000)).state is State.CANCELLED
    note("cancelled 70,000 jobs with one call")
