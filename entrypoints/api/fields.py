"""Fields of a JSON object: each has a reader, unknown ones are refused."""

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Any

from ...domain.durations import duration
from ...domain.errors import InvalidInput
from ...domain.values import check_choice

Reader = Callable[[str, object], Any]
"""Takes the field's dotted name and its JSON value; raises InvalidInput."""


def read(
    at: str, value: object, readers: Mapping[str, Reader], required: Collection[str] = ()
) -> dict[str, Any]:
    """Return the values of an object that lies at ``at`` (empty for the body itself).

    ``null`` is a value like any other: only a reader that knows it takes it. Raises InvalidInput.
    """
    if not isinstance(value, dict):
        raise InvalidInput(at, "must be a JSON object")
    for name in value:
        if name not in readers:
            raise InvalidInput(at, "is not a field here", (name,))
    for name in required:
        if name not in value:
            raise InvalidInput(at, "is missing", (name,))
    prefix = f"{at}." if at else ""
    return {name: readers[name](prefix + name, item) for name, item in value.items()}


def switch(field: str, value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise InvalidInput(field, "must be true or false")
    return value


def text(field: str, value: object) -> str:
    """Read any text."""
    if not isinstance(value, str):
        raise InvalidInput(field, "must be text")
    return value


def choice(kind: type[StrEnum]) -> Reader:
    """Return a reader of one of several words."""

    def read_choice(field: str, value: object) -> StrEnum:
        return check_choice(field, value, kind)

    return read_choice


def json_object(field: str, value: object) -> dict[str, Any]:
    """Read any JSON object."""
    if not isinstance(value, dict):
        raise InvalidInput(field, "must be a JSON object")
    return value


def json_list(field: str, value: object) -> list[Any]:
    """Read any JSON list."""
    if not isinstance(value, list):
        raise InvalidInput(field, "must be a JSON list")
    return value


def nullable(reader: Reader) -> Reader:
    """Return a reader that takes null, too."""
    return lambda field, value: None if value is None else reader(field, value)


def durations(field: str, value: object) -> tuple[Any, ...]:
    """Read a list of durations; a fault names the list's element."""
    found = []
    for index, item in enumerate(json_list(field, value)):
        try:
            found.append(duration(field, item))
        except InvalidInput as error:
            raise InvalidInput(field, error.rule, (index,)) from error
    return tuple(found)
