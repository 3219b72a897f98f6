"""`fencepost schedules next`: when an expression fires, without a database."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from support.commands import Commands


def test_next_tells_fire_times_without_a_database(bare: Commands) -> None:
    """As records with the local time, or as one JSON list; the moment given is not among them."""
    start = "2025-03-29T01:30:00Z"
    asked = ("schedules", "next", "--cron", "30 2 * * *", "--tz", "Europe/Oslo", "--from", start)
    utc = ["2025-03-30T01:00:00.000000Z", "2025-03-31T00:30:00.000000Z"]
    assert bare.lines(*asked, "-n", "2") == [
        {"fire_at": utc[0], "local": "2025-03-30T03:00:00+02:00"},
        {"fire_at": utc[1], "local": "2025-03-31T02:30:00+02:00"},
    ]
    done = bare.run(*asked, "-n", "2", "--json")
    assert (json.loads(done.stdout), done.stderr) == (utc, "")


def test_next_counts_from_now_unless_told_otherwise(bare: Commands) -> None:
    """Five of them; intervals are counted from the moment, too."""
    before = datetime.now(UTC)
    told = bare.lines("schedules", "next", "--cron", "every 1h")
    found = [datetime.fromisoformat(one["fire_at"]) for one in told]
    assert len(found) == 5
    assert before + timedelta(hours=1) <= found[0] <= datetime.now(UTC) + timedelta(hours=1)
    assert found[1] - found[0] == timedelta(hours=1)


def test_next_ends_with_the_calendar(bare: Commands) -> None:
    """B048: in Tokyo the year 10000, which no calendar here has, begins nine hours early."""
    asked = (
        "schedules",
        "next",
        "--cron",
        "every 8h",
        "--tz",
        "Asia/Tokyo",
        "--from",
        "9999-12-31T06:30:00Z",
    )
    assert bare.lines(*asked) == [
        {"fire_at": "9999-12-31T14:30:00.000000Z", "local": "9999-12-31T23:30:00+09:00"},
        {"fire_at": "9999-12-31T22:30:00.000000Z", "local": None},
    ]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--cron", "0 0 30 2 *"], "cron"),
        (["--cron", "@daily", "--tz", "Nowhere"], "tz"),
        (["--cron", "@daily", "--dst", "none"], "--dst"),
        (["--cron", "@daily", "--from", "2030-01-01T00:00:00"], "from"),
        (["--cron", "@daily", "-n", "0"], "n"),
        (["--cron", "@daily", "-n", "1001"], "n"),
        ([], "--cron"),
    ],
)
def test_next_says_what_it_cannot_tell(bare: Commands, arguments: list[str], field: str) -> None:
    """Exit code 2 and one line that names the field."""
    done = bare.run("schedules", "next", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert field in done.stderr
