"""When something recurs: cron expressions and intervals, read from what people write."""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo

from .cron import Cron
from .errors import InvalidInput
from .interval import interval, is_interval
from .wall_clock import Dst
from .zones import zone

__all__ = ["LONGEST_EXPRESSION", "Dst", "Recurrence", "recurrence"]

LONGEST_EXPRESSION = 256
_PRINTABLE = re.compile(r"[ -~]*")
_EXAMPLES = "such as `30 2 * * MON-FRI`, `@daily` or `every 90m`"


class Recurrence(Protocol):
    """Fire times without end: a cron expression in a zone, or an interval."""

    @property
    def expression(self) -> str:
        """The canonical text, which gives the same times when read again."""

    def times(self, after: datetime) -> Iterator[datetime]:
        """Yield every fire time strictly after an aware moment, ascending, in UTC, up to the calendar's end.

        Raises InvalidInput for a naive moment.
        """

    def words(self) -> str:
        """Return one English sentence."""


def recurrence(
    expression: object, tz: object = "UTC", dst: object = Dst.VIXIE, *, starts_at: datetime | None = None
) -> Recurrence:
    """Return what an expression stands for in a zone under a policy; intervals are counted from ``starts_at``.

    Raises InvalidInput naming ``cron``, ``tz``, ``dst`` or ``starts_at``, with what to write instead.
    """
    text = _checked(expression)
    place = zone("tz", tz)
    policy = _policy(dst)
    return interval(text, starts_at) if is_interval(text) else _cron(text, place, policy)


def _checked(expression: object) -> str:
    if not isinstance(expression, str):
        raise InvalidInput("cron", f"must be text, {_EXAMPLES}")
    if len(expression) > LONGEST_EXPRESSION:
        raise InvalidInput("cron", f"must have at most {LONGEST_EXPRESSION} characters: write two schedules")
    if not _PRINTABLE.fullmatch(expression):
        raise InvalidInput(
            "cron", "must be plain ASCII: write digits 0 to 9 and single spaces between the fields"
        )
    text = expression.strip()
    if not text:
        raise InvalidInput("cron", f"must not be empty: write an expression {_EXAMPLES}")
    return text


def _policy(dst: object) -> Dst:
    for policy in Dst:
        if dst == policy:
            return policy
    raise InvalidInput("dst", f"must be {' or '.join(Dst)}")


@lru_cache(maxsize=1024)
def _cron(text: str, place: ZoneInfo, policy: Dst) -> Cron:
    """Read an expression once: a scheduler asks for the same ones again and again, and nothing in them changes."""
    return Cron(text, place, policy)
