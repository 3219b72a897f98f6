"""B038, B042, B044, B045, B047, B048, B055: what people send as an expression, a zone or a moment, and what they get.

By the domain, by `fencepost schedules next`, and against what PostgreSQL can hold.
"""

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.application.ports.event_log import LogFilter
from fencepost.application.scheduling import Scheduling
from fencepost.domain.errors import InvalidInput
from fencepost.domain.recurrence import recurrence
from support.calling import call
from support.cron_asking import effort, fire_times, refusal
from support.rig import USER
from support.schedules import Plane, definition, plane_over
from support.stores import Clock

USAGE = 2
Preview = Callable[..., CompletedProcess[str]]
REFUSED = [
    pytest.param("0 0 30 2 *", "names dates that never come", id="B038 30 February"),
    pytest.param("* * 31 2 *", "names dates that never come", id="B038 31 February"),
    pytest.param("0 0 31 4,6,9,11 *", "names dates that never come", id="B038 31st of short months"),
    pytest.param("0 0 12 * * *", "must have five fields", id="B042"),
    pytest.param("R R * * *", "write the time itself", id="B044 R"),
    pytest.param("R/15 * * * *", "write the time itself", id="B044 R and a step"),
    pytest.param("H * * * *", "write the time itself", id="B044 H"),
    pytest.param("H(0-5) 3 * * *", "write the time itself", id="B044 H and a range"),
    pytest.param("@reboot", "names no time", id="B045 reboot"),
    pytest.param("@every 5m", "write `every 5m`", id="B045 every"),
    pytest.param("@fortnightly", "@weekly", id="B045 fortnightly"),
    pytest.param("5," * 1_000_000 + "5 * * * *", "at most 256 characters", id="B047 list"),
    pytest.param("5" * 5_000 + " * * * *", "at most 256 characters", id="B047 number"),
    pytest.param("*/" + "9" * 4_000 + " * * * *", "at most 256 characters", id="B047 step"),
]
ZONES: list[Any] = [
    *("", "Europe", "America/Argentina", "europe/berlin", "utc", "Z", "+03:00", "UTC+3", "../../etc/passwd"),
    *("/etc/localtime", "Europe//Berlin", "Europe/Berlin\x00", "a" * 5_000, "zone.tab"),
]
ENOUGH = 30_000
"""Calls of functions, croniter's and our own, that a refusal may take: those are some ten milliseconds."""


@pytest.fixture
def preview(tmp_path: Path) -> Preview:
    """`fencepost schedules next`, where there is no database."""
    return lambda *arguments: call(("schedules", "next", *arguments), tmp_path, {})


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """The scheduling plane; there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


@pytest.mark.parametrize(("expression", "words"), REFUSED)
def test_a_bad_expression_is_refused_at_once(expression: str, words: str) -> None:
    """B038, B042, B044, B045, B047: whatever its size, with little work and with words on what to write."""
    error = refusal(expression)
    assert (error.field, words in error.rule, len(error.rule) < 200) == ("cron", True, True)
    assert effort(lambda: refusal(expression)) < ENOUGH


@pytest.mark.parametrize(("expression", "words"), REFUSED)
def test_the_command_line_refuses_the_same(preview: Preview, expression: str, words: str) -> None:
    """B038, B042, B044, B045, B047: one line on stderr, exit code 2, nothing on stdout."""
    done = preview(f"--cron={expression}", "--json")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "cron: " in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


async def test_nothing_is_stored_of_what_is_refused(plane: Plane) -> None:
    """B038, B042, B044, B045, B047, B055: neither a schedule nor an event, at creation and at an edit."""
    scheduling = Scheduling(plane.schedules, plane.firings, plane.schedules)
    kept = (await scheduling.create("kept", definition("@daily"), USER)).schedule
    bad = [definition(str(parameters.values[0])) for parameters in REFUSED]
    bad += [definition("@daily", tz=tz) for tz in ZONES]
    for one in bad:
        with pytest.raises(InvalidInput):
            await scheduling.create("refused", one, USER)
        with pytest.raises(InvalidInput):
            await scheduling.edit("kept", one, USER)
    assert await scheduling.list() == [kept]
    assert await PostgresEventLog(plane.database).page(LogFilter(names=frozenset({"schedule_edited"}))) == []


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("@daily", "@daily"),
        ("@DAILY", "@daily"),
        (" @daily", "@daily"),
        ("@annually", "@yearly"),
        ("@Midnight ", "@daily"),
    ],
)
def test_every_alias_works_and_has_one_form(preview: Preview, written: str, stored: str) -> None:
    """B045: trimmed, in any case; what is stored is the usual name."""
    found = recurrence(written)
    assert found.expression == stored
    year = ("--from", "2025-01-01T00:00:00Z", "--json")
    said = preview("--cron", written, *year)
    assert (said.returncode, said.stdout) == (0, preview("--cron", stored, *year).stdout)


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("* * * * *", "9999-12-31T23:59:30Z", []),
        ("0 0 29 2 *", "9999-12-31T23:59:30Z", []),
        ("0 0 29 2 *", "9997-01-01T00:00:00Z", []),
        ("* * * * *", "9999-12-31T23:57:59Z", ["9999-12-31T23:58:00.000000Z", "9999-12-31T23:59:00.000000Z"]),
    ],
)
def test_after_the_last_fire_time_of_the_calendar_there_are_none(
    preview: Preview, expression: str, after: str, expected: list[str]
) -> None:
    """B048: an empty list, not an error."""
    done = preview("--cron", expression, "--from", after, "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, expected)


@pytest.mark.parametrize("expression", ["* * * * *", "0 0 29 2 *"])
def test_the_calendars_first_moment_is_refused_on_the_command_line(preview: Preview, expression: str) -> None:
    """B048: moments lie between 1970 and 9999; the domain itself can begin where the calendar does."""
    done = preview("--cron", expression, "--from", "0001-01-01T00:00:00Z", "--json")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "must lie between the years 1970 and 9999" in done.stderr
    [first] = fire_times(expression, "UTC", datetime(1, 1, 1, tzinfo=UTC), 1)
    assert first.year < 5


async def test_a_schedule_ends_with_the_calendar_and_others_go_on(plane: Plane) -> None:
    """B048: its last minute makes a job, and after it there is no next fire time."""
    plane.clock.now = datetime(9999, 12, 31, 23, 57, 30, tzinfo=UTC)
    await plane.create("minutely", cron="* * * * *", starts_at=plane.clock.now)
    await plane.create("leap", cron="0 0 29 2 *", starts_at=datetime(9990, 1, 1, tzinfo=UTC))
    await plane.fire(timedelta(minutes=1))
    await plane.end(*await plane.claim())
    await plane.fire(timedelta(minutes=1))
    assert [f"{row.fire_at:%H:%M}" for row in await plane.ledger("minutely")] == ["23:58", "23:59"]
    assert (await plane.schedule("minutely")).next_fire_at is None
    assert (await plane.schedule("leap")).next_fire_at is None


@pytest.mark.parametrize("tz", [*ZONES, None, 5], ids=lambda value: repr(value)[:30])
def test_what_is_no_zone_is_refused_in_one_way(preview: Preview, tz: Any) -> None:
    """B055: with the name of the field, wherever it was looked for before."""
    assert refusal("@daily", tz).field == "tz"
    if isinstance(tz, str):
        done = preview("--cron", "@daily", f"--tz={tz}", "--json")
        assert (done.returncode, done.stdout) == (USAGE, "")
        assert "tz: must be a time zone of the tz database" in done.stderr
