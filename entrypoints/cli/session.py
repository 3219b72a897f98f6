"""One command's use of the database."""

import getpass
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from ...domain.commands import Origin
from .flags import Flags

if TYPE_CHECKING:
    from ..container import Container


def session(flags: Flags) -> AbstractAsyncContextManager["Container"]:
    """Connect, and leave nothing open; raises InvalidInput, Unavailable."""
    return session_where(flags.settings)


@asynccontextmanager
async def session_where(given: Mapping[str, object]) -> AsyncIterator["Container"]:
    """Do the same for the database that a program names."""
    from ..location import located  # noqa: PLC0415 - loads what --help must not wait for

    settings, dsn = located(given)
    from ..container import assemble, closed, opened  # noqa: PLC0415 - as above

    container = assemble(settings, dsn)
    try:
        yield await opened(container)
    finally:
        await closed(container)


def origin(reason: str | None = None) -> Origin:
    """Return the paper trail of one command: who sits at the terminal, and a fresh request id."""
    return Origin(f"user:{user_name()}", str(uuid.uuid4()), reason)


def user_name() -> str:
    """Return who sits at the terminal."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"
