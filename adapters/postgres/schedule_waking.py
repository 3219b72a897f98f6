"""Waking schedulers that sleep until a fire time: an earlier one may have come. A hint, like those to workers."""

from contextlib import suppress
from functools import cache

from sqlalchemy import Text, bindparam, text

from .database import Database
from .query import Statement
from .rousing import HINT_ERRORS
from .waking import channel

_TELL = "SELECT pg_notify(:channel, '') WHERE set_config('synchronous_commit', 'off', true) IS NOT NULL"


@cache
def _tell(schema: str) -> Statement:
    spoken = bindparam("channel", scheduler_channel(schema), type_=Text)
    return Statement(text(_TELL).bindparams(spoken), writes=False)


def scheduler_channel(schema: str) -> str:
    """Return the channel that schedulers listen to."""
    return channel(f"schedules_{schema}")


async def wake_schedulers(database: Database) -> None:
    """Tell schedulers to look again; to be called after the change was committed."""
    with suppress(*HINT_ERRORS):
        await database.execute(_tell(database.schema)())
