"""The product held against the judges, window by window; what differs is told in words."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import takewhile

from attrs import frozen

from fencepost.domain.errors import InvalidInput
from fencepost.domain.recurrence import Recurrence, recurrence
from fencepost.domain.zones import zone
from support.cron_days_oracle import DaysCron
from support.cron_expressions import DAYED, EXPRESSIONS, may_be_refused
from support.cron_oracle import Cron
from support.cron_windows import MINUTE, Judge, Window, changes, days_around

POLICIES = ("vixie", "wall")
MARGIN = timedelta(days=2)
"""For so long before and after a window, too, the clocks of zones that share it agree."""
SHARE = 16
"""Of the zones that share a window one is asked about every expression, each other one about every 16th."""


@frozen
class Stretch:
    """Real time around a change, from ``start`` to ``end`` (aware UTC), and the zones whose clocks go alike in it."""

    zones: tuple[str, ...]
    start: datetime
    end: datetime


def stretches(names: Sequence[str], first: datetime, last: datetime) -> list[Stretch]:
    """The three days around every change of the zones' clocks between two moments, those that are alike as one."""
    alike: defaultdict[tuple[datetime, datetime, tuple[datetime, ...]], list[str]] = defaultdict(list)
    for name in names:
        ruled = zone("tz", name)
        all_changes = changes(ruled, first - MARGIN, last + MARGIN)
        for change in all_changes:
            start, end = days_around(ruled, change)
            near = [at for at in all_changes if start - MARGIN <= at <= end + MARGIN]
            shown = [at.astimezone(ruled).replace(tzinfo=None) for at in (start, *near)]
            if first <= change < last:
                alike[start, end, (*near, *shown)].append(name)
    return [Stretch(tuple(zones), start, end) for (start, end, _), zones in alike.items()]


def differences(stretch: Stretch, expressions: Sequence[str] = EXPRESSIONS) -> list[str]:
    """Everything in which the product and the judges disagree about a stretch, under both policies."""
    found: list[str] = []
    window = Window(zone("tz", stretch.zones[0]), stretch.start, stretch.end)
    for name, expression in _questions(stretch, expressions):
        for policy in POLICIES:
            expected = window.fires(judge(expression), policy)
            found += _difference(expression, name, policy, stretch, expected)
    return found


@cache
def judge(expression: str) -> Judge:
    """The judge that knows the expression's terms."""
    return DaysCron(expression) if expression in DAYED else Cron(expression)


def _questions(stretch: Stretch, expressions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Zones and the expressions they are asked about; for all zones but the first the share moves on with the days."""
    for i, name in enumerate(stretch.zones):
        share = expressions[(stretch.start.toordinal() + i) % SHARE :: SHARE] if i else expressions
        yield from ((name, expression) for expression in share)


def _difference(
    expression: str, tz: str, policy: str, stretch: Stretch, expected: list[datetime]
) -> Iterator[str]:
    schedule = _asked(expression, tz, policy)
    if schedule is None:
        return
    times = schedule.times(stretch.start - MINUTE)
    given = list(takewhile(lambda at: at <= stretch.end, times))
    if given != expected:
        yield (
            f"{expression!r} in {tz}, {policy}, from {stretch.start:%Y-%m-%dT%H:%MZ} to {stretch.end:%Y-%m-%dT%H:%MZ}\n"
            f"  judge   {_told(expected)}\n"
            f"  product {_told(given)}"
        )


@lru_cache(maxsize=2 * len(EXPRESSIONS))
def _asked(expression: str, tz: str, policy: str) -> Recurrence | None:
    """The product's schedule; None where it may refuse and does."""
    try:
        return recurrence(expression, tz, policy)
    except InvalidInput:
        if may_be_refused(expression):
            return None
        raise


def _told(times: list[datetime]) -> str:
    return " ".join(f"{at:%m-%dT%H:%MZ}" for at in times) or "nothing"
