"""Query strings: known parameters only, each given once unless it may be repeated."""

import re
from collections.abc import Callable, Collection
from datetime import datetime
from functools import partial
from typing import TypeVar

from starlette.requests import Request

from ...domain.errors import InvalidInput
from ...domain.values import Choice, check_choice, check_text
from .moments import moment
from .problems import invalid_parameter

T = TypeVar("T")
BIGINT_MAX = 2**63 - 1
_DIGITS = re.compile(r"[0-9]{1,19}")


class Query:
    """The parameters of one request; every method raises Problem naming the parameter and the rule."""

    def __init__(self, request: Request, known: Collection[str], repeatable: Collection[str] = ()) -> None:
        """Refuse parameters that are unknown or repeated: a misspelt filter must not widen a list."""
        self._values: dict[str, list[str]] = {}
        for name, value in request.query_params.multi_items():
            if name not in known:
                raise invalid_parameter(name, f"is not one of {', '.join(known) or 'none'}")
            self._values.setdefault(name, []).append(value)
        for name, values in self._values.items():
            if len(values) > 1 and name not in repeatable:
                raise invalid_parameter(name, "must be given once")

    def all(self, name: str) -> list[str]:
        """Return every value of a repeatable parameter."""
        return [_kept(name, value) for value in self._values.get(name, [])]

    def text(self, name: str) -> str | None:
        """Return a value as it is."""
        values = self.all(name)
        return values[0] if values else None

    def read(self, name: str, read: Callable[[str, object], T]) -> T | None:
        """Return a value as ``read`` takes it; what that refuses is a wrong parameter."""
        text = self.text(name)
        return None if text is None else checked(name, partial(read, name, text))

    def choices(self, name: str, kind: type[Choice]) -> frozenset[Choice] | None:
        """Return the words of a repeatable parameter, None when there is none."""
        chosen = [checked(name, partial(check_choice, name, word, kind)) for word in self.all(name)]
        return frozenset(chosen) or None

    def integer(self, name: str, least: int, most: int = BIGINT_MAX) -> int | None:
        """Return a whole number, written in digits only."""
        text = self.text(name)
        if text is None:
            return None
        if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
            raise invalid_parameter(name, f"must be a whole number from {least} to {most}")
        return int(text)

    def switch(self, name: str) -> bool | None:
        """Return ``true`` or ``false``."""
        text = self.text(name)
        if text not in (None, "true", "false"):
            raise invalid_parameter(name, "must be true or false")
        return None if text is None else text == "true"

    def moment(self, name: str) -> datetime | None:
        """Return a moment."""
        text = self.text(name)
        if text is None:
            return None
        if " " in text:
            raise invalid_parameter(name, "must be an RFC 3339 date-time; in a query + is written %2B")
        return checked(name, lambda: moment(name, text))


def no_query(request: Request) -> None:
    """Refuse any parameter."""
    if request.scope["query_string"]:
        Query(request, ())


def checked(parameter: str, check: Callable[[], T]) -> T:
    """Return what a check returns; the field it complains of is the parameter."""
    try:
        return check()
    except InvalidInput as error:
        raise invalid_parameter(parameter, error.rule) from error


def _kept(name: str, value: str) -> str:
    return checked(name, lambda: check_text(name, value))
