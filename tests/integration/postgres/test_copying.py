"""Large batches are copied instead of inserted, which nobody can tell from what is stored."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from fencepost.adapters.postgres import submit_copy
from fencepost.adapters.postgres.submit_plan import COPIED_FROM
from fencepost.adapters.postgres.submitter import SyncPostgresSubmitter
from fencepost.domain.commands import Origin
from fencepost.domain.decide import enqueue
from fencepost.domain.errors import InvalidInput, KeyConflict, UnknownOutcome
from fencepost.domain.evolve import fold
from fencepost.domain.retry import Constant, Delays
from support.proxy import Proxy, Trouble
from support.rig import Rig, keyed, rig_over, submission

AWKWARD = '{"text": "\\"\\\\ {}, NULL é \\u2028", "list": [1, 2.50, null],  "spaced" : {}}'
KINDS = (
    submission(AWKWARD),
    submission(AWKWARD, priority=9, max_attempts=7, timeout=None, lease=timedelta(days=1)),
    submission(effect_key='an "effect", {key} \\ NULL é', retry=Constant(timedelta(microseconds=1))),
    submission("{}", run_at=datetime(2031, 2, 3, 4, 5, 6, 7, tzinfo=UTC), queue="q", type="NULL"),
    submission("{}", retry=Delays((timedelta(0), timedelta(days=40, microseconds=1)))),
    submission("{}", timeout=timedelta(days=36_600), lease=timedelta(milliseconds=100)),
)


async def test_a_copied_batch_writes_what_the_domain_decides(rig: Rig) -> None:
    """Rows and ``enqueued`` events are those of ``decide.enqueue``, byte for byte in the payload."""
    batch = [submission(f'{{"n":{n}}}') for n in range(COPIED_FROM)]
    other = evolve(KINDS[0], command=evolve(KINDS[0].command, origin=Origin("api:é", None, "why", None)))
    kinds = (*KINDS, other)
    answers = await rig.submit(*batch, *kinds)
    for asked, answer in zip(kinds, answers[COPIED_FROM:], strict=True):
        [event] = await rig.log.history(answer.job_id)
        assert evolve(event, position=None) == enqueue(asked.command, answer.job_id, event.at)
        assert await rig.job(answer.job_id) == fold([event])


async def test_copied_and_inserted_rows_are_the_same(rig: Rig) -> None:
    """Every column of both tables, but for ids, positions and clocks."""
    for kind in KINDS:
        [inserted] = await rig.submit(kind)
        await rig.submit(*[kind] * COPIED_FROM)
        for table, own in (
            ("jobs", "'job_id', 'submitted_at', 'run_at'"),
            ("job_events", "'job_id', 'position', 'at', 'run_at'"),
        ):
            rows = f"SELECT count(DISTINCT to_jsonb(t) - ARRAY[{own}]), count(*) FROM fencepost.{table} AS t"
            assert await rig.ask(f"{rows} WHERE job_id >= %s", inserted.job_id) == [(1, COPIED_FROM + 1)]


async def test_a_delay_counts_from_the_databases_clock(rig: Rig) -> None:
    """The due time of a copied job is its submission plus the delay."""
    answers = await rig.submit(*[submission(delay=timedelta(days=150))] * COPIED_FROM)
    job = await rig.job(answers[-1].job_id)
    assert job.run_at - job.submitted_at == timedelta(days=150)


async def test_ids_follow_the_order_of_the_batch_over_several_copies(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier ones have lower ids and positions, and the events of each job are its own."""
    monkeypatch.setattr(submit_copy, "COPY_CHUNK", 97)
    batch = [submission(f'{{"n":{n}}}', priority=n % 3) for n in range(COPIED_FROM + 50)]
    answers = await rig.submit(*batch)
    rows = await rig.ask(
        "SELECT job_id, (e.payload ->> 'n')::int, (j.payload ->> 'n')::int, j.priority FROM fencepost.jobs AS j"
        " JOIN fencepost.job_events AS e USING (job_id) ORDER BY position"
    )
    assert rows == [(answer.job_id, n, n, n % 3) for n, answer in enumerate(answers)]
    assert [answer.job_id for answer in answers] == sorted(answer.job_id for answer in answers)


@pytest.mark.parametrize("payload", ['{"n": "\\u0000"', '"\ud800"'])
async def test_one_that_cannot_be_stored_leaves_none_of_the_others(rig: Rig, payload: str) -> None:
    """What breaks in the middle of a COPY, at the server's side or ours, writes nothing; the connection goes on."""
    batch = [submission() for _ in range(2 * COPIED_FROM)]
    with pytest.raises(InvalidInput):
        await rig.submit(*batch, submission(payload), *batch)
    assert await rig.count() == 0
    assert len(await rig.submit(*batch)) == len(batch) == await rig.count()


async def test_keys_of_a_copied_batch_are_settled_before(rig: Rig) -> None:
    """A used key gets the first answer, the rest is copied with the ids drawn for it; a conflict writes nothing."""
    [first] = await rig.submit(keyed("a"))
    batch = [submission() for _ in range(COPIED_FROM)]
    *answers, again, fresh = await rig.submit(*batch, keyed("a"), keyed("b"))
    assert (again.job_id, again.created, fresh.created) == (first.job_id, False, True)
    assert fresh.job_id > max(answer.job_id for answer in answers)
    with pytest.raises(KeyConflict):
        await rig.submit(*batch, keyed("b", "another request"))
    assert await rig.count() == COPIED_FROM + 2


async def test_a_transaction_id_is_owned_before_a_position_is_taken(rig: Rig) -> None:
    """A reader of the log can bound a gap by the writers it sees: the copy's writer is seen before its positions."""
    await rig.ask(
        "CREATE FUNCTION fencepost.owned() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN IF pg_current_xact_id_if_assigned() IS NULL THEN RAISE ''unseen''; END IF; RETURN NEW; END'"
    )
    await rig.ask(
        "CREATE TRIGGER owned BEFORE INSERT ON fencepost.jobs FOR EACH ROW EXECUTE FUNCTION fencepost.owned()"
    )
    try:
        assert len(await rig.submit(*[submission()] * COPIED_FROM)) == COPIED_FROM
    finally:
        await rig.ask("DROP FUNCTION fencepost.owned() CASCADE")


async def test_a_lost_reply_to_the_copys_commit_is_unknown(rig: Rig, proxy: Proxy) -> None:
    """The jobs are there, and the caller is told that nobody knows."""
    async with rig_over(proxy.dsn) as far:
        proxy.trouble("COMMIT", Trouble.REPLY_LOST)
        with pytest.raises(UnknownOutcome):
            await far.submit(*[submission()] * COPIED_FROM)
    assert await rig.count() == COPIED_FROM


async def test_synchronous_callers_copy_too(rig: Rig) -> None:
    """The same rows, without an event loop."""
    submitter = SyncPostgresSubmitter(rig.dsn)
    try:
        answers = submitter.submit([submission(f'{{"n":{n}}}') for n in range(COPIED_FROM)])
    finally:
        submitter.close()
    assert (await rig.job(answers[-1].job_id)).payload == f'{{"n":{COPIED_FROM - 1}}}'
    assert len(await rig.log.history(answers[0].job_id)) == 1
