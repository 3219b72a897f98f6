"""Time zones by their names in the tz database: names and rules come from the pinned package, not from the machine."""

from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from tzdata import IANA_VERSION  # type: ignore[import-untyped]  # it ships no types

from .errors import InvalidInput

TZ_VERSION: str = IANA_VERSION
"""The version of the tz database, such as 2026f."""
_LONGEST_NAME = 64


def zone(field: str, name: object) -> ZoneInfo:
    """Return the zone of a name such as ``Europe/Oslo``; raises InvalidInput unless the database lists the name."""
    if isinstance(name, str) and name in names():
        return _load(name)
    known = (
        _spellings().get(name.casefold()) if isinstance(name, str) and len(name) <= _LONGEST_NAME else None
    )
    written = f"write {known}" if known else "write UTC or a place such as Europe/Oslo"
    raise InvalidInput(field, f"must be a time zone of the tz database: {written}")


@cache
def names() -> frozenset[str]:
    """Return the name of every zone, links included."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="ascii").split())


@cache
def _spellings() -> dict[str, str]:
    return {name.casefold(): name for name in names()}


@cache
def _load(name: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as rules:
        return ZoneInfo.from_file(rules, key=name)
