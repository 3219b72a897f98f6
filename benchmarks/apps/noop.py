"""The app whose worker is measured: a handler that does nothing."""

from fencepost import Context, Fencepost

app = Fencepost()


@app.job(queue="bench")
async def noop(ctx: Context, number: int) -> None:
    """Do nothing."""
