"""The app whose jobs take long: they sleep, and come back at once when they are run again."""

import asyncio

from fencepost import Context, Fencepost

app = Fencepost()


@app.job(queue="bench")
async def nap(ctx: Context, seconds: float) -> None:
    """Sleep in the first attempt only."""
    if ctx.attempt == 1:
        await asyncio.sleep(seconds)


@app.job(queue="bench")
async def noop(ctx: Context, number: int) -> None:
    """Do nothing."""
