"""A brute-force judge of cron expressions: it walks every real minute and shares no code with the product or croniter.

Two rules for clock changes:

wall   every real minute whose wall clock matches fires (gap: skipped; fold: twice)
vixie  when the minute or the hour field starts with ``*``, the same; otherwise a match inside a gap fires once, at the
       first minute after the gap, and a match inside a fold fires once, at its first pass

Day of month and weekday: either is enough when neither field starts with ``*``, else both must match. Five fields:
names, lists, ranges that do not wrap, steps, 7 for Sunday.
"""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: i + 1 for i, name in enumerate(_MONTHS)}
WEEKDAYS = {name: i for i, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
NAMES = {3: MONTHS, 4: WEEKDAYS}
WEEKDAY = 4
MINUTE = timedelta(minutes=1)


class Cron:
    """An expression as the sets of values its fields allow; ValueError for anything outside the grammar."""

    def __init__(self, expression: str) -> None:
        fields = expression.split()
        if len(fields) != 5:
            raise ValueError("five fields needed")
        self.minutes, self.hours, self.days, self.months, self.weekdays = (
            _field(text, i) for i, text in enumerate(fields)
        )
        self.union = not fields[2].startswith("*") and not fields[4].startswith("*")
        self.fixed = not fields[0].startswith("*") and not fields[1].startswith("*")

    def day(self, day: date) -> bool:
        """Whether the expression allows this date."""
        if day.month not in self.months:
            return False
        by_date, by_weekday = day.day in self.days, (day.isoweekday() % 7) in self.weekdays
        return (by_date or by_weekday) if self.union else (by_date and by_weekday)

    def wall(self, clock: datetime) -> bool:
        """Whether the expression matches what a clock on the wall shows."""
        return clock.minute in self.minutes and clock.hour in self.hours and self.day(clock)


def fires(
    expression: str,
    zone: ZoneInfo,
    start: datetime,
    count: int,
    policy: str = "vixie",
    limit_days: int = 3_700,
) -> list[datetime]:
    """Up to ``count`` fire times, aware UTC, strictly after ``start`` (aware) and within ``limit_days`` of it."""
    cron = Cron(expression)
    once = policy == "vixie" and cron.fixed
    t = start.astimezone(UTC).replace(second=0, microsecond=0)
    before = t.astimezone(zone).replace(tzinfo=None)
    end = t + timedelta(days=limit_days)
    found: list[datetime] = []
    while len(found) < count and t < end:
        t += MINUTE
        local = t.astimezone(zone)
        clock = local.replace(tzinfo=None)
        hit = cron.wall(clock)
        if once:
            hit = (hit and local.fold == 0) or _any_skipped(cron, before, clock)
        before = clock
        if hit:
            found.append(t)
    return found


def _any_skipped(cron: Cron, before: datetime, clock: datetime) -> bool:
    """Whether a wall minute matches that the clock jumped over."""
    skipped = before + MINUTE
    while skipped < clock:
        if cron.wall(skipped):
            return True
        skipped += MINUTE
    return False


def _field(text: str, i: int) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        found.update(_part(part, i))
    if i == WEEKDAY and 7 in found:
        found.discard(7)
        found.add(0)
    return frozenset(found)


def _part(part: str, i: int) -> range:
    low, high = RANGES[i]
    last = 6 if i == WEEKDAY else high
    body, slash, step = part.partition("/")
    if slash and (not (step.isascii() and step.isdigit()) or int(step) == 0):
        raise ValueError(f"bad step {part!r}")
    if body == "*":
        a, b = low, last
    elif "-" in body:
        x, y = body.split("-")
        a, b = _number(x, i), _number(y, i)
        if a > b:
            raise ValueError(f"wrapping range {part!r}")
    else:
        a = _number(body, i)
        b = last if slash else a
    return range(a, b + 1, int(step) if slash else 1)


def _number(text: str, i: int) -> int:
    low, high = RANGES[i]
    names = NAMES.get(i, {})
    if text.lower() in names:
        return names[text.lower()]
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"bad value {text!r}")
    if not low <= int(text) <= high:
        raise ValueError(f"out of range {text!r}")
    return int(text)
