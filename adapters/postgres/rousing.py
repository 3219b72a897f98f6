"""Waking idle workers after a commit: a hint, whose failure changes nothing."""

import asyncio
from collections.abc import Collection
from contextlib import suppress

import psycopg

from ...domain.errors import FencepostError
from .database import Database
from .waking import waking

HINT_ERRORS = (FencepostError, psycopg.Error)
"""What a hint may run into; what was committed stays committed."""


async def rouse(database: Database, queues: Collection[str]) -> None:
    """Tell workers that are idle that these queues may have work; to be called after the work was committed."""
    if queues:
        with suppress(*HINT_ERRORS):
            await database.execute(waking(database.schema).to_idle(queues=sorted(queues)))


class Rouser:
    """The same for many who commit at the same time: one look at the idle flags serves all that came before it."""

    def __init__(self, database: Database) -> None:
        """Look through this database."""
        self._database = database
        self._turn = asyncio.Lock()
        self._due: set[str] = set()

    async def rouse(self, queues: Collection[str]) -> None:
        """Return when a look that began after this call is over."""
        if not queues:
            return
        self._due.update(queues)
        async with self._turn:
            due, self._due = self._due, set()  # empty when the one before looked for us
            try:
                await rouse(self._database, due)
            except BaseException:  # cancelled: whoever is next looks for the others, too
                self._due |= due
                raise
