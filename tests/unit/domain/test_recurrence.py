"""The way in: an expression, a zone and a policy, or a refusal by name."""

import ast
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.domain.recurrence import Dst, recurrence
from support.repository import ROOT, python_files, tree

NEW_YEAR = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("dst", ["", "VIXIE", "debian", None, 5, True, [], {}, b"wall"], ids=repr)
def test_a_policy_is_one_of_two_words(dst: Any) -> None:
    """The field is dst."""
    with pytest.raises(InvalidInput, match="dst: must be vixie or wall"):
        recurrence("@daily", "UTC", dst)


@pytest.mark.parametrize("expression", ["@daily", "every 90m"])
@pytest.mark.parametrize(("arguments", "field"), [(("europe/oslo",), "tz"), (("UTC", "none"), "dst")])
def test_zone_and_policy_are_checked_for_every_kind(
    expression: str, arguments: tuple[str, ...], field: str
) -> None:
    """An interval would not need them, but what is stored is always right."""
    with pytest.raises(InvalidInput) as caught:
        recurrence(expression, *arguments, starts_at=NEW_YEAR)
    assert caught.value.field == field


def test_utc_and_vixie_are_what_goes_without_saying() -> None:
    """The policy may be given as its word."""
    plain = list(islice(recurrence("30 2 * * *").times(NEW_YEAR), 3))
    assert plain == list(islice(recurrence("30 2 * * *", "UTC", "vixie").times(NEW_YEAR), 3))
    assert plain == list(islice(recurrence("30 2 * * *", "UTC", Dst.VIXIE).times(NEW_YEAR), 3))


@pytest.mark.parametrize(
    "text", ["@midnight", "  5   4 * * sun ", "@Annually", "Every 90M", "0 0 l,15 * 1#1", "*/5 0-9/3 * JAN *"]
)
def test_the_canonical_text_means_the_same(text: str) -> None:
    """What is stored gives the same times and words when it is read again, and stays as it is."""
    first = recurrence(text, "Europe/Oslo", starts_at=NEW_YEAR)
    again = recurrence(first.expression, "Europe/Oslo", starts_at=NEW_YEAR)
    assert again.expression == first.expression
    assert again.words() == first.words()
    assert list(islice(again.times(NEW_YEAR), 20)) == list(islice(first.times(NEW_YEAR), 20))


def test_equal_expressions_are_read_once() -> None:
    """A scheduler asks for the same ones again and again."""
    assert recurrence("7 7 * * *", "Europe/Oslo") is recurrence(" 7 7 * * * ", "Europe/Oslo", Dst.VIXIE)
    assert recurrence("7 7 * * *", "Europe/Oslo") is not recurrence("7 7 * * *", "Europe/Oslo", Dst.WALL)


def test_only_the_calendar_search_knows_croniter() -> None:
    """Its zones, its reading of expressions and its defaults are never used elsewhere."""
    users = {
        str(file.relative_to(ROOT))
        for file in python_files("domain", "application", "adapters", "entrypoints")
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Import | ast.ImportFrom) and "croniter" in ast.unparse(node)
    }
    assert users == {"domain/cron_days.py"}
