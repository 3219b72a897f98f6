"""``fencepost demo``: run the main job under fire and prove the outcome."""

import asyncio
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...adapters.embedded import temporary_postgres
from ...adapters.postgres.migrations import migrate
from ..container import assemble, closed, opened
from ..fleet import fleet
from ..settings import load
from .faults import DemoFailed
from .plan import Chunk, plan
from .run import Demo
from .story import Story


def demo(directory: Path | None = None, *, jobs: int = 10_000, seed: int = 1) -> None:
    """Hash the files below DIRECTORY as thousands of jobs, strike workers on the way, and prove the outcome.

    Starts an embedded PostgreSQL, the HTTP API, a scheduler and three workers, kills one worker and freezes another,
    and ends by itself: exit code 0 only if every result is right and the history shows no violation.

    Parameters
    ----------
    directory
        The files to hash; by default the Python installation's.
    jobs
        How many jobs to submit.
    seed
        Decides which jobs make which trouble.
    """
    chunks = plan(directory or Path(sysconfig.get_path("stdlib")), jobs, seed)
    story = Story()
    story.tell(f"{len(chunks):,} chunks to hash; starting PostgreSQL, API, scheduler and three workers")
    with _database() as dsn:
        good = asyncio.run(_run(story, dsn, chunks, seed))
    sys.exit(0 if good else 1)


@contextmanager
def _database() -> Iterator[str]:
    """Yield a migrated database on a server that ends with the demo."""
    with temporary_postgres() as running:
        migrate(running.dsn)
        yield running.dsn


async def _run(story: Story, dsn: str, chunks: list[Chunk], seed: int) -> bool:
    container = await opened(assemble(load(), dsn))
    try:
        with fleet({"FENCEPOST_DATABASE_URL": dsn}) as crew:
            try:
                return await Demo(container, crew, story, seed, chunks).run()
            except DemoFailed as failure:
                story.tell(f"the demo failed: {failure}\n{crew.last_words()}")
                return False
    finally:
        await closed(container)
