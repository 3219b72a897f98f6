"""How long an idle system takes from the submit's commit to the handler's start, and how late delayed jobs are."""

import asyncio
import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import uvloop
from attrs import frozen
from ground.bench import Bench, Outcome
from ground.draining import until_ended
from ground.filling import request
from ground.history import claims, lateness, percentiles, starts
from ground.numbers import median
from ground.processes import until_idle, worker

from fencepost import Fencepost

JOBS, WARM_UP = 400, 20
DELAYED, SOONEST, LATEST = 200, 5.0, 15.0
PAUSE = (0.02, 0.08)


@frozen
class Submit:
    """One call: which job it made, and when it began and returned, by this machine's clock."""

    job_id: int
    called: datetime
    returned: datetime


def latency(bench: Bench) -> Outcome:
    """Submit one job at a time into silence, with irregular pauses, so that no rhythm helps or harms.

    Counted as for the peers: from the return of the call, when the job is committed, to the handler's start.
    """
    jobs = bench.options.jobs or JOBS
    found: dict[str, list[dict[str, float]]] = {"from_return": [], "from_call": [], "from_call_to_claim": []}
    for run in bench.runs():
        with bench.database() as dsn, worker(dsn, 10) as process:
            until_idle(dsn, process)
            submits = uvloop.run(_trickle(dsn, jobs, random.Random(run)))[WARM_UP:]
            until_ended(dsn, process)
            started, claimed = starts(dsn), claims(dsn)
        found["from_return"].append(_ms((one.returned, started[one.job_id]) for one in submits))
        found["from_call"].append(_ms((one.called, started[one.job_id]) for one in submits))
        found["from_call_to_claim"].append(_ms((one.called, claimed[one.job_id]) for one in submits))
    return Outcome(
        value=median(run["p50"] for run in found["from_return"]),
        unit="ms",
        details={"p99": median(run["p99"] for run in found["from_return"]), "jobs": jobs, **found},
    )


def delayed(bench: Bench) -> Outcome:
    """Submit jobs that are due at random moments, and see how late their handlers start."""
    jobs, late = bench.options.jobs or DELAYED, []
    for run in bench.runs():
        with bench.database() as dsn, worker(dsn, 100) as process:
            until_idle(dsn, process)
            uvloop.run(_submit_delayed(dsn, jobs, random.Random(run)))
            until_ended(dsn, process)
            late.append(percentiles(lateness(dsn)))
    return Outcome(
        value=median(run["p99"] for run in late),
        unit="ms",
        details={"p50": median(run["p50"] for run in late), "jobs": jobs, "lateness": late},
    )


def _ms(spans: Iterable[tuple[datetime, datetime]]) -> dict[str, float]:
    return percentiles([(end - begin).total_seconds() * 1_000 for begin, end in spans])


async def _trickle(dsn: str, jobs: int, chance: random.Random) -> list[Submit]:
    made = []
    async with Fencepost(dsn) as app:
        for number in range(jobs + WARM_UP):
            called = datetime.now(UTC)
            [answer] = await app.submit_many([request(number)])
            made.append(Submit(answer.job_id, called, datetime.now(UTC)))
            await asyncio.sleep(chance.uniform(*PAUSE))
    return made


async def _submit_delayed(dsn: str, jobs: int, chance: random.Random) -> None:
    async with Fencepost(dsn) as app:
        now = datetime.now(UTC)
        due = [now + timedelta(seconds=chance.uniform(SOONEST, LATEST)) for _ in range(jobs)]
        await app.submit_many([request(number, run_at=moment) for number, moment in enumerate(due)])
