"""Claims by worker processes: no more than can run, only what is known, whatever else touches the rows."""

import asyncio
from datetime import timedelta

import pytest

from fencepost.application.ports.job_reader import JobFilter
from fencepost.domain.vocabulary import State
from support.cancelling import race
from support.polling import eventually
from support.rig import rig_over
from support.site import PATIENCE, Site

ONCE = "SELECT job_id FROM fencepost.job_events WHERE name = 'claimed' GROUP BY job_id HAVING count(*) <> 1"
EARLY = """
SELECT j.job_id FROM fencepost.job_events AS e JOIN fencepost.jobs AS j USING (job_id)
WHERE e.name = 'claimed' AND e.at < j.run_at
"""
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
OTHERS = "SELECT count(*) FROM fencepost.jobs WHERE state = 'succeeded'"


def test_a_thousand_jobs_due_at_once_start_once_each(site: Site) -> None:
    """B126: four workers wait for the same instant: no deadlock, no job forgotten, none early, none twice."""
    [(due,)] = site.ask("SELECT clock_timestamp() + interval '4 s'")
    jobs = site.submit("nap", 1_000, run_at=due)
    site.workers(4, slots=25)
    site.finished()
    began = [effect.job_id for effect in site.ledger() if effect.what == "began"]
    assert sorted(began) == jobs
    assert site.ask(ONCE) == site.ask(EARLY) == []
    assert site.happened() == {"enqueued": 1_000, "claimed": 1_000, "succeeded": 1_000}
    assert site.ask(DEADLOCKS) == [(0,)]


def test_serializable_as_the_database_default_changes_nothing(site: Site) -> None:
    """B107: 200 jobs, four workers: each completes once, no worker ends."""
    [(name,)] = site.ask("SELECT current_database()")
    site.ask(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    workers = site.workers(4, slots=5)
    site.submit("nap", 200, {"seconds": 0.02})
    site.finished()
    assert site.ask("SHOW default_transaction_isolation") == [("serializable",)]
    assert site.happened() == {"enqueued": 200, "claimed": 200, "succeeded": 200}
    assert [worker.stop() for worker in workers] == [0] * 4


def test_only_what_can_run_is_claimed(site: Site) -> None:
    """B097: ten jobs of a quarter of a lease each, on one slot: ten attempts, nothing to reap."""
    site.scheduler()
    site.worker(slots=1)
    jobs = site.submit("doze", 10, {"seconds": 0.5}, lease=timedelta(seconds=2))
    site.finished()
    assert site.happened() == {"enqueued": 10, "claimed": 10, "succeeded": 10}
    assert site.seen("ended") == set(jobs)


def test_unknown_types_are_left_alone(site: Site) -> None:
    """B106: jobs of a type that no worker handles stay pending at attempt 0, and hold up nobody behind them."""
    unknown = site.submit("unheard_of", 10, priority=9, max_attempts=3)
    site.worker()
    known = site.submit("nap", 10, priority=0)
    site.saw("ended", known)
    eventually(lambda: site.states()["succeeded"] == 10, within=PATIENCE)
    rows = site.ask(
        "SELECT job_id, CAST(state AS text), attempt FROM fencepost.jobs WHERE type = 'unheard_of'"
    )
    assert sorted(rows) == [(job, "pending", 0) for job in unknown]


def test_a_row_locked_in_psql_delays_only_itself(site: Site) -> None:
    """B108: fifty others finish, lists are read, and the locked job runs once the lock is gone."""
    locked, *others = site.submit("nap", 51)
    with site.locked([locked]):
        site.worker()
        eventually(lambda: site.ask(OTHERS) == [(50,)], within=PATIENCE)
        assert asyncio.run(listed(site.dsn)) == 51
        assert site.seen("began") == set(others)
    site.finished()
    assert site.events(locked) == [("enqueued", 0), ("claimed", 1), ("succeeded", 1)]


async def listed(dsn: str) -> int:
    """How many jobs a list shows."""
    async with rig_over(dsn) as rig:
        states = frozenset({State.PENDING, State.RUNNING, State.SUCCEEDED})
        return len(await rig.reader.page(JobFilter(states=states), limit=100))


@pytest.mark.parametrize("rounds", [300, pytest.param(3_000, marks=pytest.mark.long)])
async def test_a_cancel_at_the_moment_of_success_has_one_end(site: Site, rounds: int) -> None:
    """B197: one terminal event each, and every answer to a cancel fits the state that the job ended in."""
    site.worker(slots=20).said("worker started")
    async with rig_over(site.dsn) as rig:
        answers = await race(rig, site.submit("nap", rounds, {"seconds": 0.01}))
        await asyncio.to_thread(site.finished)
        states = {job: (await rig.job(job)).state for job in answers}
    assert len(answers) == rounds
    assert set(states.values()) <= {State.SUCCEEDED, State.CANCELLED}
    refused = {job for job, verdict in answers.items() if verdict == "refused"}
    assert {states[job] for job in refused} <= {State.SUCCEEDED}
    happened = site.happened()
    assert happened["succeeded"] + happened["cancelled"] == rounds
