"""The golden table: fire times as the brute-force judges computed them, kept in a file.

A change of croniter, of the tz database or of our own code that moves a schedule is a difference to the file. Where it
is right to move, ``python -m support.cron_golden`` in ``tests`` (with ``src`` in PYTHONPATH) writes the file anew, by
the judges alone, and the difference is there to be read.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from attrs import frozen

from fencepost.domain.zones import TZ_VERSION, zone
from support.cron_asking import fire_times, local
from support.cron_days_oracle import fires_by_mark
from support.cron_expressions import DAYED, EXPRESSIONS
from support.cron_oracle import fires

GOLDEN = Path(__file__).parents[1] / "cases" / "golden_fire_times.txt"
HEADING = "# expression | zone | dst | after | fire times"
COUNT = 5
WITHIN = timedelta(days=800)
"""What lies further away is not walked to."""
NONE = "none"
MOMENTS = (
    ("UTC", "2025-01-01T00:00"),
    ("America/New_York", "2025-03-08T22:00"),
    ("America/New_York", "2025-11-01T22:00"),
    ("Europe/Berlin", "2026-03-28T22:30"),
    ("Europe/Oslo", "2025-10-25T23:15"),
    ("Europe/Lisbon", "2025-03-29T22:00"),
    ("Europe/Dublin", "2027-10-30T22:00"),
    ("Atlantic/Azores", "2026-10-24T22:00"),
    ("America/Havana", "2026-03-07T22:00"),
    ("America/Havana", "2026-10-31T22:00"),
    ("America/St_Johns", "2010-03-13T22:00"),
    ("America/Scoresbysund", "2024-03-30T20:00"),
    ("America/Santiago", "2026-09-05T22:00"),
    ("America/Caracas", "2016-04-30T22:00"),
    ("Antarctica/Troll", "2025-10-25T22:00"),
    ("Antarctica/Troll", "2026-03-28T22:00"),
    ("Africa/Cairo", "2026-04-23T22:00"),
    ("Africa/Casablanca", "2026-02-14T22:00"),
    ("Africa/Casablanca", "2027-03-13T22:00"),
    ("Asia/Beirut", "2026-03-28T22:00"),
    ("Asia/Gaza", "2028-10-27T22:00"),
    ("Asia/Kolkata", "2025-06-30T23:59"),
    ("Asia/Pyongyang", "2018-05-04T22:00"),
    ("Asia/Tehran", "2021-09-20T22:00"),
    ("Australia/Lord_Howe", "2025-04-05T22:00"),
    ("Australia/Lord_Howe", "2025-10-04T22:00"),
    ("Australia/Sydney", "2030-10-05T22:00"),
    ("Pacific/Apia", "2011-12-28T22:00"),
    ("Pacific/Chatham", "2025-04-05T22:00"),
    ("Pacific/Chatham", "2026-09-26T22:00"),
    ("Pacific/Kwajalein", "1993-08-19T22:00"),
)
"""Evenings before clocks are turned, and a few ordinary ones; on the zone's own wall clock."""


@frozen
class Question:
    """What one row of the table asks."""

    expression: str
    tz: str
    dst: str
    after: str

    def row(self, times: list[str]) -> str:
        """The row with its answer."""
        return " | ".join([self.expression, self.tz, self.dst, self.after, " ".join(times) or NONE])


def questions() -> list[Question]:
    """Every expression of the fixed set at one of the moments, every seventh at two; a third of them under ``wall``."""
    asked = [*enumerate(EXPRESSIONS), *((i + 5, EXPRESSIONS[i]) for i in range(0, len(EXPRESSIONS), 7))]
    return [_question(expression, i) for i, expression in asked]


def table() -> str:
    """The whole file, by the judges: some minutes of work."""
    rows = [question.row(judged(question)) for question in questions()]
    return "\n".join([f"# tz database {TZ_VERSION}", HEADING, *rows, ""])


def judged(question: Question) -> list[str]:
    """The answer of a judge that walks every minute."""
    place, start = zone("tz", question.tz), local(question.tz, question.after)
    if question.expression in DAYED:
        walked = fires_by_mark(question.expression, place, start, start + WITHIN, question.dst)
        return _told(islice(walked, COUNT))
    return _told(fires(question.expression, place, start, COUNT, question.dst, WITHIN.days))


def given(question: Question) -> list[str]:
    """The product's answer."""
    start = local(question.tz, question.after)
    found = fire_times(question.expression, question.tz, start, COUNT, question.dst)
    return _told(moment for moment in found if moment <= start + WITHIN)


def kept() -> tuple[str, list[tuple[Question, list[str]]]]:
    """The file's line about the tz database, and its rows."""
    about, heading, *lines = GOLDEN.read_text(encoding="ascii").splitlines()
    assert heading == HEADING
    return about, [_read(line) for line in lines]


def _question(expression: str, i: int) -> Question:
    tz, after = MOMENTS[i % len(MOMENTS)]
    return Question(expression, tz, "wall" if i % 3 == 2 else "vixie", after)


def _read(line: str) -> tuple[Question, list[str]]:
    expression, tz, dst, after, times = line.split(" | ")
    return Question(expression, tz, dst, after), [] if times == NONE else times.split(" ")


def _told(moments: Iterable[datetime]) -> list[str]:
    return [f"{moment:%Y-%m-%dT%H:%MZ}" for moment in moments]


if __name__ == "__main__":
    GOLDEN.write_text(table(), encoding="ascii")
