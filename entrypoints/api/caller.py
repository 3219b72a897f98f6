"""Who calls, and what stands behind the API."""

import re
from collections.abc import Mapping
from typing import cast

from starlette.requests import Request

from ...domain.commands import Origin
from ...domain.errors import InvalidInput
from ...domain.values import check_key, check_text
from ..container import Container
from .problems import Code, Problem, invalid_header

ACTOR = "api:anonymous"
"""Actor of every write, and owner of its submit keys, until there are tokens."""
KEY = "Idempotency-Key"
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')


def container(request: Request) -> Container:
    """Return the objects of this process."""
    return cast("Container", request.app.state.container)


def request_id(request: Request) -> str:
    """Return the id the request came with, or was given."""
    return cast("str", request.scope["state"]["request_id"])


def origin(request: Request, reason: str | None = None) -> Origin:
    """Return the paper trail of a write."""
    return Origin(ACTOR, request_id(request), reason)


def reason(field: str, value: object) -> str:
    """Read a reason; raises InvalidInput."""
    return check_text(field, value)


def replayed(*, is_new: bool) -> Mapping[str, str]:
    """Return the header of an answer that was given to the same request before; none of a new one."""
    return {} if is_new else {"Idempotency-Replayed": "true"}


def submit_key(request: Request) -> str | None:
    """Return the submit key in the header: bare, or quoted as a structured field; raises Problem.

    ``abc`` and ``"abc"`` are the same key. Only printable ASCII, since headers do not say how text is encoded.
    """
    given = request.headers.getlist(KEY)
    if not given:
        return None
    text = given[0].strip()
    if quoted := _QUOTED.fullmatch(text):
        text = re.sub(r"\\(.)", r"\1", quoted[1])
    if len(given) > 1 or not (text.isascii() and text.isprintable()):
        raise invalid_header(KEY, "must be given once, in printable ASCII")
    try:
        return check_key(KEY, text)
    except InvalidInput as error:
        raise invalid_header(KEY, error.rule) from error


def no_header(request: Request, *names: str) -> None:
    """Refuse headers that carry a promise we could not keep; raises Problem."""
    for name in names:
        if name in request.headers:
            raise Problem(Code.UNSUPPORTED_HEADER, f"{name} is not honoured by this operation; leave it out.")
