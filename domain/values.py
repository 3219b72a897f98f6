"""JSON values: one walk that refuses what PostgreSQL, or another reader, could not give back unchanged."""

import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from .errors import InvalidInput
from .limits import (
    DURATION_MAX,
    EARLIEST,
    KEY_LENGTH,
    LATEST,
    NAME_PATTERN,
    NESTING,
    PRIORITY_MAX,
    PRIORITY_MIN,
    TEXT_LENGTH,
)
from .units import SHORT, counted

Choice = TypeVar("Choice", bound=StrEnum)
_NAME = re.compile(NAME_PATTERN)
_ATOMS = frozenset({str, int, bool, type(None)})
# Nesting is bounded before anything is encoded, so no circle can be met.
_COMPACT = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_text(field: str, text: object, longest: int = TEXT_LENGTH) -> str:
    """Return text that can be stored.

    Raises InvalidInput for other types, NUL characters, lone surrogates and more than ``longest`` characters.
    """
    if not isinstance(text, str):
        raise InvalidInput(field, "must be text")
    if _UNSTORABLE.search(text):
        raise InvalidInput(field, "must not contain NUL characters or lone surrogates")
    if len(text) > longest:
        raise InvalidInput(field, f"must have at most {longest} characters")
    return text


def check_name(field: str, name: object) -> str:
    """Return a type, queue or schedule name; raises InvalidInput unless it matches ``[A-Za-z0-9._:/-]{1,128}``."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(field, f"must match {NAME_PATTERN}")
    return name


def check_key(field: str, key: object) -> str:
    """Return a key as given (case-sensitive, not normalised); raises InvalidInput when empty, blank or too long."""
    text = check_text(field, key, KEY_LENGTH)
    if not text.strip():
        raise InvalidInput(field, "must not be empty or blank")
    return text


def check_priority(field: str, priority: object) -> int:
    """Return a priority; raises InvalidInput outside 0..9."""
    return check_integer(field, priority, PRIORITY_MIN, PRIORITY_MAX)


def check_integer(field: str, number: object, least: int, most: int) -> int:
    """Return a whole number; raises InvalidInput outside ``least..most`` and for booleans."""
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise InvalidInput(field, f"must be a whole number from {least} to {most}")
    return number


def check_choice(field: str, value: object, kind: type[Choice]) -> Choice:
    """Return the one of several words that a value is; raises InvalidInput naming them all."""
    for choice in kind:
        if value == choice:
            return choice
    raise InvalidInput(field, f"must be one of {', '.join(kind)}")


def check_moment(field: str, moment: object) -> datetime:
    """Return a moment with an offset; raises InvalidInput for naive ones and those outside 1970..9999."""
    if not isinstance(moment, datetime) or moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(field, "must be a date and time with an offset")
    if not EARLIEST <= moment <= LATEST:
        raise InvalidInput(field, "must lie between the years 1970 and 9999")
    return moment


def in_utc(moment: datetime) -> datetime:
    """Return the same moment in UTC: times of one wall clock are compared by what it shows, also where it is turned.

    What UTC cannot say, and what is no moment, stays as it is, for ``check_moment`` to refuse.
    """
    try:
        return moment if moment.utcoffset() is None else moment.astimezone(UTC)
    except (AttributeError, OverflowError):
        return moment


def check_duration(
    field: str, duration: object, least: timedelta = timedelta(0), most: timedelta = DURATION_MAX
) -> timedelta:
    """Return a duration; raises InvalidInput outside ``least..most``."""
    if not isinstance(duration, timedelta) or not least <= duration <= most:
        raise InvalidInput(
            field, f"must be a duration between {duration_text(least)} and {duration_text(most)}"
        )
    return duration


def duration_text(duration: timedelta) -> str:
    """Return a duration as people would write it: in the largest unit of which it is a whole number."""
    count, unit = counted(duration)
    return f"{count}{SHORT[unit]}" if count and unit in SHORT else f"{duration.total_seconds():g}s"


def check_json(field: str, value: object, depth: int = 1) -> None:
    """Walk a value before it is encoded.

    Raises InvalidInput for anything JSON or PostgreSQL could not give back: other types than None, bool, int, finite
    float, str, list, tuple and dict with str keys; NUL or lone surrogates; nesting deeper than 64.
    """
    try:
        _walk(value, depth)
    except _Fault as fault:
        raise InvalidInput(field, fault.rule, tuple(reversed(fault.steps))) from None


class _Fault(Exception):
    """Gathers its path on the way out: a path kept on the way in would be copied for every value."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule
        self.steps: list[str | int] = []


def _walk(value: object, depth: int) -> None:
    match value:
        case str():
            if _UNSTORABLE.search(value):
                raise _Fault("must not contain NUL characters or lone surrogates")
        case None | bool() | int():
            return
        case float():
            if not math.isfinite(value):
                raise _Fault("must be a finite number")
        case dict() | list() | tuple():
            _walk_container(value, depth)
        case _:
            raise _Fault(f"must be a JSON value, not {type(value).__name__}")


def _walk_container(value: dict[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> None:
    if depth > NESTING:
        raise _Fault(f"must not be nested deeper than {NESTING}")
    step: str | int
    for step, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, dict):
            _check_member_name(step)
        try:
            _walk(item, depth + 1)
        except _Fault as fault:
            fault.steps.append(step)
            raise


def _check_member_name(name: object) -> None:
    if not isinstance(name, str):
        raise _Fault("must have text keys")
    if _UNSTORABLE.search(name):
        raise _Fault("must not have keys with NUL characters or lone surrogates")


def encode(field: str, value: object, most_bytes: int, compact: Callable[[object], str] = _COMPACT) -> str:
    """Return a checked value as compact JSON text.

    ``compact`` may write what is made of dicts, lists, texts, whole numbers, booleans and None, if it writes it alike.
    Raises InvalidInput as ``check_json`` does, and when the text is longer than ``most_bytes`` in UTF-8.
    """
    plain = _plain(value)
    if not plain:
        check_json(field, value)
    try:
        text = compact(value) if plain else _COMPACT(value)
    except ValueError as error:  # the interpreter's limit on digits, or a lone surrogate
        check_json(field, value)
        raise InvalidInput(field, "must not contain a number of more than 4300 digits") from error
    if plain and _suspicious(text):
        check_json(field, value)
    if len(text) > most_bytes or (not text.isascii() and len(text.encode()) > most_bytes):
        raise InvalidInput(field, f"must be at most {most_bytes} bytes of JSON")
    return text


def _plain(value: object, depth: int = 1) -> bool:
    """Whether a container holds nothing that ``check_json`` could refuse, but for characters inside its texts.

    Much faster than the walk, which alone finds the words for a fault: what is not plain need not be wrong.
    """
    if depth > NESTING:
        return False
    kind = type(value)
    if kind is dict:
        members: dict[object, object] = value  # type: ignore[assignment]  # mypy does not narrow by type()
        for name in members:
            if type(name) is not str:
                return False
        items: Iterable[object] = members.values()
    elif kind is list:
        items = value  # type: ignore[assignment]  # as above
    else:
        return False
    # A loop, as a generator would be another object for each value.
    for item in items:  # noqa: SIM110
        if type(item) not in _ATOMS and not _plain(item, depth + 1):
            return False
    return True


def _suspicious(text: str) -> bool:
    """Whether JSON text may hold NUL characters or lone surrogates: looking at it once is faster than at its parts."""
    return "\\u0000" in text or (not text.isascii() and _UNSTORABLE.search(text) is not None)


def decode(field: str, text: str | bytes, depth: int = 1) -> Any:
    """Return the value of JSON text; ``depth`` is that of the outermost value.

    Raises InvalidInput for what is not JSON, duplicate keys, NaN and Infinity, and what ``check_json`` refuses.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique(field), parse_constant=_no_constant(field))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(field, f"must be JSON; at {place}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(field, "must be JSON") from error
    if not (_plain(value, depth) and _unescaped(text)):
        check_json(field, value, depth)
    return value


def _unescaped(text: str | bytes) -> bool:
    """Whether the texts inside JSON text are made of ASCII characters that stand for themselves."""
    return text.isascii() and ("\\u" not in text if isinstance(text, str) else b"\\u" not in text)


def _unique(field: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise InvalidInput(field, "must not repeat a key")
        return found

    return pairs


def _no_constant(field: str) -> Any:
    def refuse(name: str) -> Any:
        raise InvalidInput(field, f"must not contain {name}")

    return refuse


def cleaned(text: str, most_bytes: int) -> str:
    """Return text that is always storable: bad characters replaced, cut to ``most_bytes`` of UTF-8."""
    kept = _UNSTORABLE.sub("\ufffd", text[:most_bytes])
    return kept.encode()[:most_bytes].decode(errors="ignore")
