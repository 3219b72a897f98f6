"""Cursors: where a page ended, bound to the filter it was made with."""

import base64
from hashlib import sha256

import msgspec

from .problems import Code, Problem
from .query import BIGINT_MAX


def cursor(last: int, filter: object) -> str:
    """Return the cursor of the page after ``last``."""
    return base64.urlsafe_b64encode(msgspec.json.encode((last, _mark(filter)))).decode().rstrip("=")


def position(cursor: str, filter: object) -> int:
    """Return where the page begins.

    Raises Problem for a cursor that was not made here, or with another filter.
    """
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        last, mark = msgspec.json.decode(text, type=tuple[int, str])
    except (ValueError, msgspec.DecodeError) as error:
        raise Problem(Code.INVALID_CURSOR) from error
    if mark != _mark(filter) or not 0 < last <= BIGINT_MAX:
        raise Problem(Code.INVALID_CURSOR)
    return last


def _mark(filter: object) -> str:
    return sha256(msgspec.json.encode(filter, order="sorted")).hexdigest()[:16]
