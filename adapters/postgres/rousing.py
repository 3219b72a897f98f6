"""Waking idle workers after a commit: a hint, whose failure changes nothing."""

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
