"""Values as the fields of a binary COPY: a length, then what the type's receive function reads."""

import struct
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from ...domain.retry import microseconds

BLOCK_BYTES = 256 * 1024
"""About as much is made at a time: enough to keep the server busy, and little to hold in memory."""
NULL = b"\xff\xff\xff\xff"

_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_JSONB_VERSION = b"\1"

_length = struct.Struct(">i").pack
_bigint = struct.Struct(">iq").pack
_integer = struct.Struct(">ii").pack
_smallint = struct.Struct(">ih").pack
_interval = struct.Struct(">iqii").pack
_count = struct.Struct(">h").pack


def count(fields: int) -> bytes:
    """Return the number of fields, which comes before them in each row."""
    return _count(fields)


def bigint(number: int) -> bytes:
    """Return a field of 8 bytes."""
    return _bigint(8, number)


def integer(number: int) -> bytes:
    """Return a field of 4 bytes."""
    return _integer(4, number)


def smallint(number: int) -> bytes:
    """Return a field of 2 bytes."""
    return _smallint(2, number)


def text(value: str | None) -> bytes:
    """Return a field of type text, or json."""
    if value is None:
        return NULL
    encoded = value.encode()
    return _length(len(encoded)) + encoded


def jsonb(value: str) -> bytes:
    """Return JSON text as a field of type jsonb."""
    encoded = value.encode()
    return _length(1 + len(encoded)) + _JSONB_VERSION + encoded


def moment(value: datetime | None) -> bytes:
    """Return a timestamp with time zone."""
    return NULL if value is None else bigint(microseconds(value - _EPOCH))


def interval(value: timedelta | None) -> bytes:
    """Return a duration that counts in microseconds alone, however long it is."""
    return NULL if value is None else _interval(16, microseconds(value), 0, 0)


def blocks(rows: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a whole COPY of these rows, some at a time."""
    block, size = [_HEADER], len(_HEADER)
    for row in rows:
        block.append(row)
        size += len(row)
        if size >= BLOCK_BYTES:
            yield b"".join(block)
            block, size = [], 0
    block.append(_TRAILER)
    yield b"".join(block)
