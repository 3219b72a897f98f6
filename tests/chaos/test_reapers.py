"""Several reapers at once, one of which dies again and again."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest

from fencepost.domain.retry import Constant
from fencepost.domain.token import Token
from support.commands import Running
from support.polling import eventually
from support.rig import Rig, rig_over, success
from support.site import PATIENCE, Site, slay

LEASE = timedelta(milliseconds=200)
AT_ONCE = Constant(timedelta(microseconds=1))
TWICE = """
SELECT job_id, attempt FROM fencepost.job_events WHERE name NOT IN ('enqueued', 'claimed')
GROUP BY job_id, attempt HAVING count(*) > 1
"""
EARLY = "SELECT job_id FROM fencepost.job_events WHERE name = 'lease_expired' AND at <= lease_expires_at"


@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.long)])
async def test_reapers_that_race_and_die_end_each_lease_once(site: Site, kills: int) -> None:
    """B073, B074: no attempt ends twice, no lease ends early, and whoever still has it at the end completes."""
    site.scheduler("20ms").said("scheduler started")
    site.submit("work", 200, lease=LEASE, max_attempts=30_000, retry=AT_ONCE)
    async with rig_over(site.dsn) as rig:
        killing = asyncio.create_task(asyncio.to_thread(kill_again_and_again, site, kills))
        held: dict[int, Token] = {}
        while not killing.done():
            held |= {token.job_id: token for token in await claimed(rig)}
            for token in list(held.values())[::50]:
                await rig.jobs.report([success(token)()])
        await killing
    happened = site.happened()
    assert happened["lease_expired"] > 200
    assert site.ask(TWICE) == site.ask(EARLY) == []


async def claimed(rig: Rig) -> list[Token]:
    """Claim what is due, as a worker does that will never be heard of again."""
    tokens = await rig.claim(50)
    if not tokens:
        await asyncio.sleep(0.01)
    return tokens


def kill_again_and_again(site: Site, kills: int) -> None:
    """Start a second scheduler and kill it in the middle of its work, several times."""
    for _ in range(kills):
        second: Running = site.scheduler("20ms")
        second.said("scheduler started")
        enough = site.happened()["lease_expired"] + 100
        eventually(partial(expired, site, enough), within=PATIENCE)
        slay(second)


def expired(site: Site, enough: int) -> bool:
    """Whether so many leases have been ended by reapers."""
    return site.happened()["lease_expired"] >= enough
