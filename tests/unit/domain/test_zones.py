"""Which names are zones, and where their rules come from."""

import re
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, reset_tzpath

import pytest
import tzdata  # type: ignore[import-untyped]  # it ships no types

from fencepost.domain import zones
from fencepost.domain.errors import InvalidInput
from fencepost.domain.zones import TZ_VERSION, names, zone

REFUSED: list[Any] = [
    "",
    " ",
    "Europe",
    "America/Argentina",
    "europe/berlin",
    "utc",
    "Z",
    "+03:00",
    "UTC+3",
    "../../etc/passwd",
    "/etc/localtime",
    "Europe//Berlin",
    "Europe/Berlin\x00",
    " Europe/Berlin",
    "Europe/Berlin ",
    "a" * 5_000,
    "zone.tab",
    "localtime",
    "tzdata.zi",
    "__init__.py",
    "\ud800",
    None,
    5,
    True,
    b"UTC",
    ["UTC"],
    timedelta(hours=1),
]


@pytest.mark.parametrize("name", REFUSED, ids=lambda value: repr(value)[:30])
def test_what_the_database_does_not_list_is_no_zone(name: Any) -> None:
    """One kind of error, whatever was given; the field is the caller's."""
    with pytest.raises(InvalidInput, match="must be a time zone of the tz database: write ") as caught:
        zone("tz", name)
    assert caught.value.field == "tz"
    assert len(caught.value.rule) < 120


def test_a_name_in_the_wrong_case_is_told_the_right_one() -> None:
    """The names are not guessed at, only suggested."""
    with pytest.raises(InvalidInput, match="write Europe/Berlin"):
        zone("tz", "europe/berlin")
    with pytest.raises(InvalidInput, match=r"write UTC$"):
        zone("tz", "utc")


def test_every_listed_zone_can_be_loaded() -> None:
    """Links and zones without a continent, too."""
    assert len(names()) > 500
    for name in names():
        found = zone("tz", name)
        assert found.key == name
        assert datetime(2030, 1, 1, tzinfo=found).utcoffset() is not None


def test_zones_do_not_come_from_the_machine(tmp_path: Any) -> None:
    """A machine's own rules, older or newer, or none at all, change nothing."""
    (tmp_path / "Europe").mkdir()
    (tmp_path / "Europe" / "Oslo").write_bytes(b"not a zone")
    reset_tzpath(to=[str(tmp_path)])
    zones._load.cache_clear()
    try:
        assert datetime(2030, 7, 1, tzinfo=zone("tz", "Europe/Oslo")).utcoffset() == timedelta(hours=2)
    finally:
        reset_tzpath()


def test_a_zone_is_loaded_once() -> None:
    """So that recurrences of one zone share its rules."""
    assert zone("tz", "Asia/Kathmandu") is zone("schedule.tz", "Asia/Kathmandu")
    assert zone("tz", "Asia/Kathmandu") is not ZoneInfo("Asia/Kathmandu")


def test_the_version_is_the_packages() -> None:
    """In the form that IANA writes."""
    assert TZ_VERSION == tzdata.IANA_VERSION
    assert re.fullmatch(r"20\d\d[a-z]", TZ_VERSION)
