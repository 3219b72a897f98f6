"""How late decisions were, as people read it."""

from datetime import timedelta

import pytest

from fencepost.entrypoints.cli.schedules.lateness import lateness, span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0ms"),
        (0.0129, "12ms"),
        (0.999, "999ms"),
        (1, "1s"),
        (61.5, "1m1s"),
        (3_600, "1h"),
        (3_605, "1h"),
        (21_660, "6h1m"),
        (86_400 * 40 + 3_600, "40d1h"),
    ],
)
def test_a_span_has_its_largest_unit_and_the_next(seconds: float, text: str) -> None:
    """What is smaller is left out."""
    assert span(timedelta(seconds=seconds)) == text


def test_only_the_clocks_decisions_can_be_late() -> None:
    """A backfill decides about the past by intent."""
    row = {"fire_at": "2030-01-01T00:00:00.000000Z", "decided_at": "2030-01-01T00:01:00.000000Z"}
    assert lateness({**row, "origin": "cron"}) == "1m"
    assert lateness({**row, "origin": "backfill:1"}) == ""
