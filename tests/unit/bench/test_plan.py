"""What a user asks `fencepost bench` for."""

import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.entrypoints.bench.numbers import percentile, rounded
from fencepost.entrypoints.bench.plan import FIGURES, planned


def test_all_figures_are_measured_unless_some_are_named() -> None:
    """Each once, in their own order."""
    assert planned(None, 100, 1).figures == FIGURES
    assert planned(" latency,submit, submit", 100, 1).figures == ("submit", "latency")


@pytest.mark.parametrize(
    ("figures", "jobs", "seconds", "field"),
    [
        ("", 100, 1, "figures"),
        ("submit,", 100, 1, "figures"),
        ("drains", 100, 1, "figures"),
        (None, 99, 1, "jobs"),
        (None, 5_000_001, 1, "jobs"),
        (None, 100, 0, "seconds"),
        (None, 100, 3_601, "seconds"),
    ],
)
def test_a_bad_wish_is_refused(figures: str | None, jobs: int, seconds: int, field: str) -> None:
    """By the name of its field."""
    with pytest.raises(InvalidInput) as refused:
        planned(figures, jobs, seconds)
    assert refused.value.field == field


def test_a_misspelt_figure_is_told_with_the_nearest_one() -> None:
    """As settings are."""
    with pytest.raises(InvalidInput, match="did you mean drain"):
        planned("drian", 100, 1)


def test_a_percentile_is_one_of_the_values() -> None:
    """The smallest that so many percent do not exceed."""
    assert [percentile([3.0, 1.0, 2.0], percent) for percent in (0, 50, 99)] == [1.0, 2.0, 3.0]


def test_numbers_are_rounded_to_what_can_be_read() -> None:
    """Within records, too; what is not a number at all is null."""
    assert rounded({"a": [1.23456, 1234.5], "b": float("nan"), "c": 7, "d": True}) == {
        "a": [1.235, 1234],
        "b": None,
        "c": 7,
        "d": True,
    }
