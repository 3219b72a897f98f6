"""One job at a time: how many are accepted when several ask at once, and how soon an idle worker starts one."""

import asyncio
import random
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from attrs import frozen

from .ground import BenchFailed, Figure, Ground
from .numbers import percentile

SUBMITTERS = 16
SAMPLES, WARM_UP = 200, 10
PAUSE = (0.005, 0.035)
"""Seconds between two submits: irregular, so that no rhythm helps or harms."""


async def single(ground: Ground) -> Figure:
    """Return jobs accepted a second from 16 tasks of one process, each of which waits for its answer."""
    noop, seconds = ground.noop.options(queue="single"), ground.plan.seconds / 2
    spans: list[float] = []
    began = time.perf_counter()

    async def ask() -> None:
        while len(spans) < ground.plan.jobs and (asked := time.perf_counter()) - began < seconds:
            await noop.submit(len(spans))
            spans.append((time.perf_counter() - asked) * 1_000)

    asking = [asyncio.ensure_future(ask()) for _ in range(SUBMITTERS)]
    try:
        await asyncio.gather(*asking)
    finally:
        for one in asking:
            one.cancel()  # when one fails, all do
        await asyncio.gather(*asking, return_exceptions=True)
    took = time.perf_counter() - began
    p50, p99 = percentile(spans, 50), percentile(spans, 99)
    return Figure(
        name="single",
        value=len(spans) / took,
        unit="jobs/s",
        note=f"one job a call, {SUBMITTERS} callers; a call takes {p50:.1f} ms (p99 {p99:.1f})",
        details={"jobs": len(spans), "callers": SUBMITTERS, "call": {"p50": p50, "p99": p99}},
    )


@frozen
class Submit:
    """One call: which job it made, and when it began and returned, by this machine's clock."""

    job_id: int
    called: datetime
    returned: datetime


async def latency(ground: Ground) -> Figure:
    """Return the median from a submit's return, when the job is committed, to its handler's start.

    The worker runs on this machine: one clock tells both moments.
    """
    wanted = min(SAMPLES, ground.plan.jobs)
    async with ground.worker("latency", 10):
        made = await _trickle(ground, wanted + WARM_UP)
        first, last = made[0].job_id, made[-1].job_id

        async def done() -> bool:
            return not await ground.questions.unfinished(first, last)

        await ground.until(done, ground.plan.seconds)
        starts = await ground.questions.starts(first, last)
    found = [one for one in made[WARM_UP:] if one.job_id in starts]
    if not found:
        raise BenchFailed(f"not one handler started within {ground.plan.seconds} s: give it more --seconds")
    from_return = _ms(found, lambda one: starts[one.job_id] - one.returned)
    from_call = _ms(found, lambda one: starts[one.job_id] - one.called)
    return Figure(
        name="latency",
        value=from_return["p50"],
        unit="ms",
        note=f"a job's commit to its start, idle worker; p99 {from_return['p99']:.2f}, "
        f"from the call {from_call['p50']:.2f}",
        details={"p99": from_return["p99"], "from_call": from_call, "jobs": len(found)},
        cut=len(found) < wanted,
    )


async def _trickle(ground: Ground, jobs: int) -> list[Submit]:
    """Submit one job at a time into silence; at least one more than the warm-up, however slow."""
    noop, chance, made = ground.noop.options(queue="latency"), random.Random(1), []  # noqa: S311 - no secret
    end = time.perf_counter() + ground.plan.seconds
    for number in range(jobs):
        called = datetime.now(UTC)
        answer = await noop.submit(number)
        made.append(Submit(answer.job_id, called, datetime.now(UTC)))
        ground.alive()
        if time.perf_counter() > end and number >= WARM_UP:
            break
        await asyncio.sleep(chance.uniform(*PAUSE))
    return made


def _ms(submits: Iterable[Submit], span: Callable[[Submit], timedelta]) -> dict[str, float]:
    spans = [span(one).total_seconds() * 1_000 for one in submits]
    return {name: percentile(spans, percent) for name, percent in (("p50", 50), ("p99", 99))}
