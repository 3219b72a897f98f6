"""Jobs that a worker's frontier has gone past: started all the same, and without the poll."""

from datetime import timedelta

import psycopg

from fencepost.adapters.postgres.callers_transactions import PostgresCallersTransactions
from fencepost.application.context import Context
from support.live import LiveWorker, counted, submit
from support.rig import submission

IDLE = "SELECT count(*) FROM fencepost.workers WHERE idle"
SUCCEEDED = "SELECT count(*) FROM fencepost.jobs WHERE state = 'succeeded'"


async def test_a_job_committed_late_is_found_by_the_full_scan_and_not_by_the_poll(database: str) -> None:
    """An idle worker is woken and sees nothing of it; it comes back for the full scan, long before its hourly poll.

    Full scans are so rare here that the wake-up seldom meets one.
    """

    async def work(ctx: Context) -> None:
        return None

    callers = PostgresCallersTransactions()
    async with LiveWorker(database, work, full_scans=0.0005, poll=timedelta(hours=1)):
        await counted(database, IDLE, 1)
        for done in (0, 2, 4):
            with psycopg.connect(database) as caller:
                callers.submit_in_sync(caller, [submission()])
                caller.execute("SELECT pg_sleep(0.1)")
                await submit(database, 1)
                await counted(database, SUCCEEDED, done + 1)
            await counted(database, SUCCEEDED, done + 2)
