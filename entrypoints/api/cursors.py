"""Cursors: where a page ended, bound to the filter it was made with."""

import base64
from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

import msgspec

from ...domain.errors import InvalidInput
from ...domain.values import check_integer
from .problems import Code, Problem
from .query import BIGINT_MAX

T = TypeVar("T")


def cursor(last: object, filter: object) -> str:
    """Return the cursor of the page after ``last``: a position, a name or a moment."""
    return base64.urlsafe_b64encode(msgspec.json.encode((last, _mark(filter)))).decode().rstrip("=")


def position(cursor: str, filter: object) -> int:
    """Return the position where the page begins; raises Problem as ``opened`` does."""
    return opened(cursor, filter, int, lambda last: check_integer("cursor", last, 1, BIGINT_MAX))


def opened(cursor: str, filter: object, kind: type[T], check: Callable[[T], object]) -> T:
    """Return what the page before ended with.

    Raises Problem for a cursor that was not made here, or with another filter, and where ``check`` raises InvalidInput:
    anybody can make a cursor.
    """
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        last, mark = msgspec.json.decode(text, type=tuple[Any, str])
        found = msgspec.convert(last, kind)
        check(found)
    except (ValueError, msgspec.DecodeError, InvalidInput) as error:
        raise Problem(Code.INVALID_CURSOR) from error
    if mark != _mark(filter):
        raise Problem(Code.INVALID_CURSOR)
    return found


def _mark(filter: object) -> str:
    return sha256(msgspec.json.encode(filter, order="sorted")).hexdigest()[:16]
