"""What people type, turned into the domain's values; a bad one is InvalidInput naming the field."""

import difflib
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ...domain.durations import duration
from ...domain.errors import InvalidInput
from ...domain.values import check_moment, check_name, decode
from ...domain.vocabulary import ControlEventName, EventName
from ..api.moments import moment as rfc3339

if TYPE_CHECKING:
    from ...application.ports.event_log import EventLog

T = TypeVar("T")
SINCE = "must be a duration back from now such as 2h, or a moment such as 2026-01-31T12:00:00Z"


def moment(field: str, text: str | None) -> datetime | None:
    """Read a date and time with an offset, as the API does; raises InvalidInput."""
    return None if text is None else rfc3339(field, text)


def name(field: str, text: str | None) -> str | None:
    """Return a name that may be left out; raises InvalidInput."""
    return None if text is None else check_name(field, text)


def clearable(name: str, text: str | None, read: Callable[[str, str], T]) -> dict[str, T | None]:
    """Return a field that ``none`` takes away, and nothing where it is not given; raises InvalidInput."""
    if text is None:
        return {}
    return {name: None if text == "none" else read(name, text)}


async def since(field: str, text: str | None, log: "EventLog") -> datetime | None:
    """Read a moment, or a duration such as 2h that lies behind the database's clock; raises InvalidInput."""
    if text is None:
        return None
    try:
        if "-" in text or ":" in text:
            return moment(field, text)
        back = duration(field, text)
    except InvalidInput as error:
        raise InvalidInput(field, SINCE) from error
    return check_moment(field, await log.clock() - back)


def event_names(field: str, given: Sequence[str] | None) -> frozenset[str] | None:
    """Read names of events, None for any; raises InvalidInput with the nearest name for one that does not exist."""
    known = [*EventName, *ControlEventName]
    for name in given or ():
        if name not in known:
            nearest = difflib.get_close_matches(name, known) or known
            raise InvalidInput(
                field, f"must be the name of an event such as {', '.join(nearest)}, not {name!r}"
            )
    return frozenset(given) if given else None


def json_text(field: str, given: str) -> str:
    """Return JSON text given as it is, as ``@file``, or as ``-`` for stdin.

    Raises InvalidInput for what cannot be read, and for what is no JSON with the name of its file.
    """
    if given == "-":
        return _json_of(field, "stdin", sys.stdin.read)
    if given.startswith("@"):
        return _json_of(field, given[1:], lambda: Path(given[1:]).read_text(encoding="utf-8"))
    return given


def _json_of(field: str, source: str, read: Callable[[], str]) -> str:
    try:
        text = read()
        decode(field, text)
    except FileNotFoundError as error:
        raise InvalidInput(field, f"file {source!r} not found") from error
    except OSError as error:
        raise InvalidInput(field, f"file {source!r} cannot be read: {error.strerror}") from error
    except UnicodeError as error:
        raise InvalidInput(field, f"{source} must be UTF-8") from error
    except InvalidInput as error:
        raise InvalidInput(error.field, f"{error.rule} (in {source})") from error
    return text
