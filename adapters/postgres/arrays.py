"""Arrays as PostgreSQL's text: every driver can send it, and much faster than a list."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import json

from ...domain.retry import microseconds

NULL = "NULL"


def numbers(values: Iterable[float | None]) -> str:
    """Return whole numbers or floats, exactly."""
    return f"{{{','.join(['NULL' if value is None else repr(value) for value in values])}}}"


def words(values: Iterable[str | None]) -> str:
    """Return texts known to have nothing to quote: names of ours, UUIDs, moments in ISO 8601."""
    return f"{{{','.join(['NULL' if value is None else value for value in values])}}}"


def texts(values: Iterable[str | None]) -> str:
    """Return any texts."""
    return f"{{{','.join(['NULL' if value is None else quoted(value) for value in values])}}}"


def values(given: Iterable[object]) -> str:
    """Return values of any kind: moments, durations, JSON objects, and whatever is its own text."""
    return texts([_text(value) for value in given])


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case datetime():
            return value.isoformat()
        case timedelta():
            return f"{microseconds(value)} microseconds"
        case Mapping():
            return json.encode(value).decode()
        case _:
            return str(value)


def joined(elements: Iterable[str]) -> str:
    """Return elements that are numbers, ``NULL`` or quoted already."""
    return f"{{{','.join(elements)}}}"


def quoted(text: str) -> str:
    """Return one element that is any text."""
    escaped = text.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'
