"""Pauses under load: while a queue is paused nothing is claimed from it, however busy the workers are."""

import asyncio

import pytest

from support.polling import eventually
from support.rig import USER, rig_over
from support.site import PATIENCE, Site

EACH = 200
CLAIMED = "SELECT count(*) FROM fencepost.job_events WHERE name = 'claimed'"
# One row for each claim between a pause that was answered and the resume after it.
BROKEN = """
SELECT e.job_id FROM fencepost.control_events AS p
JOIN LATERAL (
    SELECT r.at FROM fencepost.control_events AS r
    WHERE r.subject = p.subject AND r.name = 'queue_resumed' AND r.position > p.position
    ORDER BY r.position LIMIT 1
) AS r ON true
JOIN fencepost.job_events AS e ON e.name = 'claimed' AND e.at > p.at AND e.at < r.at
WHERE p.name = 'queue_paused'
"""


@pytest.mark.parametrize("rounds", [15, pytest.param(150, marks=pytest.mark.long)])
async def test_a_pause_is_exact_under_load(site: Site, rounds: int) -> None:
    """Three workers claim at full speed while the queue is paused and resumed in a loop; none slips through."""
    site.workers(3, slots=10)
    async with rig_over(site.dsn) as rig:
        for _ in range(rounds):
            await rig.queues.pause("default", USER)
            before = site.ask(CLAIMED)
            await asyncio.to_thread(_settled, site)
            site.submit("nap", EACH)
            assert site.ask(CLAIMED) == before
            await rig.queues.resume("default", USER)
            await asyncio.to_thread(eventually, lambda was=before: site.ask(CLAIMED) != was, within=PATIENCE)
    await asyncio.to_thread(site.finished)
    assert site.ask(BROKEN) == []
    [(pauses,)] = site.ask("SELECT count(*) FROM fencepost.control_events WHERE name = 'queue_paused'")
    assert pauses == rounds
    assert site.states() == {"succeeded": EACH * rounds}


def _settled(site: Site) -> None:
    """Wait until what was claimed before the pause is over."""
    eventually(lambda: not site.states()["running"], within=PATIENCE, every=0.005)
