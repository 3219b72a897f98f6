"""Cancels that come when their jobs are about to succeed."""

import asyncio
import random

from fencepost.domain.commands import Cancel
from fencepost.domain.vocabulary import Verdict

from .rig import USER, Rig

TOGETHER = 8


async def race(rig: Rig, jobs: list[int]) -> dict[int, Verdict]:
    """Cancel each job at some moment around its success and return the definite answers."""
    turns, answers = asyncio.Semaphore(TOGETHER), dict[int, Verdict]()

    async def cancel(job: int) -> None:
        async with turns:
            while (await rig.job(job)).attempt == 0:  # noqa: ASYNC110 - another process claims it
                await asyncio.sleep(0.002)
            await asyncio.sleep(random.random() * 0.02)
            verdict = Verdict.BUSY
            while verdict is Verdict.BUSY:
                (verdict,) = await rig.jobs.operate([job], Cancel(origin=USER))
            answers[job] = verdict

    await asyncio.gather(*map(cancel, jobs))
    return answers
