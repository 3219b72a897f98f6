"""An app that knows nothing of what other apps do."""

from fencepost import Context, Fencepost

app = Fencepost()


@app.job()
async def other(ctx: Context) -> None:
    """Do nothing."""
