"""What a submit must meet, field by field."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fencepost.domain import commands as c
from fencepost.domain.errors import InvalidInput
from fencepost.domain.job import Specification
from fencepost.domain.submission import check_submit

ORIGIN = c.Origin("user:ann")
SECOND = timedelta(seconds=1)


def _submit(*, origin: c.Origin = ORIGIN, **fields: Any) -> c.Submit:
    timing = {name: fields.pop(name) for name in ("run_at", "delay") if name in fields}
    return c.Submit(origin=origin, specification=Specification(**({"type": "t"} | fields)), **timing)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", ""),
        ("type", "a b"),
        ("type", "x" * 129),
        ("type", "t\n"),
        ("type", "ü"),
        ("queue", "q?"),
        ("queue", None),
        ("priority", -1),
        ("priority", 10),
        ("priority", 5.0),
        ("priority", True),
        ("max_attempts", 0),
        ("max_attempts", 32_001),
        ("lease", timedelta(milliseconds=99)),
        ("lease", timedelta(days=2)),
        ("lease", 30),
        ("timeout", timedelta(0)),
        ("timeout", -SECOND),
        ("timeout", timedelta(days=40_000)),
        ("effect_key", " "),
        ("effect_key", "x" * 256),
        ("effect_key", "a\0"),
        ("run_at", datetime(2030, 1, 1)),  # noqa: DTZ001 - a naive moment is what is refused
        ("run_at", datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("run_at", "2030-01-01"),
        ("delay", -SECOND),
        ("delay", timedelta(days=40_000)),
    ],
)
def test_a_value_that_breaks_a_rule_is_named(field: str, value: Any) -> None:
    """The error names the field and says the rule."""
    with pytest.raises(InvalidInput) as caught:
        check_submit(_submit(**{field: value}))
    assert caught.value.field == field
    assert caught.value.rule.startswith("must ")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"type": "A-z0.9_:/-", "queue": "x" * 128, "priority": 0, "max_attempts": 32_000},
        {"priority": 9, "lease": timedelta(milliseconds=100), "timeout": None},
        {"lease": timedelta(days=1), "timeout": timedelta(days=366 * 100)},
        {"effect_key": "x" * 255, "delay": timedelta(0)},
        {"run_at": datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)},
        {"run_at": datetime(1970, 1, 1, tzinfo=UTC)},
    ],
)
def test_the_extremes_are_allowed(fields: dict[str, Any]) -> None:
    """Every limit belongs to what it allows."""
    check_submit(_submit(**fields))


def test_a_job_has_one_due_time() -> None:
    """``run_at`` and ``delay`` together are a contradiction."""
    with pytest.raises(InvalidInput, match="together"):
        check_submit(_submit(run_at=datetime(2030, 1, 1, tzinfo=UTC), delay=SECOND))


@pytest.mark.parametrize("field", ["actor", "request_id", "reason", "build"])
@pytest.mark.parametrize("text", ["a\0", "\ud800", "x" * 2_001])
def test_the_paper_trail_is_checked(field: str, text: str) -> None:
    """What cannot be stored is refused in every text of the origin."""
    trail = {"actor": "user:ann", field: text}
    with pytest.raises(InvalidInput) as caught:
        check_submit(_submit(origin=c.Origin(**trail)))
    assert caught.value.field == field
