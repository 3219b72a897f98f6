"""What people type, turned into the domain's values; a bad one is InvalidInput naming the field."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...application.durations import duration
from ...domain.errors import InvalidInput
from ...domain.values import check_moment
from ..api.moments import moment as rfc3339

if TYPE_CHECKING:
    from ...application.ports.event_log import EventLog


def moment(field: str, text: str | None) -> datetime | None:
    """Read a date and time with an offset, as the API does; raises InvalidInput."""
    return None if text is None else rfc3339(field, text)


async def since(field: str, text: str | None, log: "EventLog") -> datetime | None:
    """Read a moment, or a duration such as 2h that lies behind the database's clock; raises InvalidInput."""
    if text is None:
        return None
    if "-" in text or ":" in text:
        return moment(field, text)
    return check_moment(field, await log.clock() - duration(field, text))


def json_text(field: str, given: str) -> str:
    """Return JSON text given as it is, as ``@file``, or as ``-`` for stdin; raises InvalidInput."""
    try:
        if given == "-":
            return sys.stdin.read()
        if given.startswith("@"):
            return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise InvalidInput(field, f"cannot be read: {error}") from error
    return given
