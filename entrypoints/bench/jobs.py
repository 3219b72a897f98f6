"""The app whose worker is measured: a handler that does nothing."""

from ...application.context import Context
from ..library.app import Fencepost
from ..library.job_type import JobType


def bench_app(database_url: str | None = None, schema: str | None = None) -> tuple[Fencepost, JobType[[int]]]:
    """Return an app, and its only job type."""
    app = Fencepost(database_url, schema=schema)

    @app.job
    async def noop(_: Context, number: int) -> None:
        """Do nothing."""

    return app, noop


app = bench_app()[0]
