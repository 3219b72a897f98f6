"""The ledger and the schedules as rows, for whoever judges them: nothing in them is taken for granted."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import frozen

from .event import ControlEvent
from .schedule import Slot


@frozen(kw_only=True)
class LedgerRow:
    """A row of the ledger: the decision about ``fire_at``, or about ``count`` fire times from there ``until``.

    ``outcome`` and ``reason`` are texts: a row may tell of what this version does not know, or be forged.
    """

    schedule: str
    fire_at: datetime
    origin: str
    outcome: str
    reason: str
    until: datetime
    count: int
    job_id: int | None
    version: int
    tz_version: str
    decided_at: datetime


@frozen(kw_only=True)
class ScheduleRow:
    """A row of ``schedules``; ``definition`` has the JSON values of ``schedule_facts.describe``, or what is there."""

    name: str
    version: int
    definition: Mapping[str, Any]
    next_fire_at: datetime | None
    paused_at: datetime | None
    waiting: Slot | None


def schedule_of(item: ControlEvent | ScheduleRow | LedgerRow) -> str:
    """Return the name of the schedule that something tells of."""
    match item:
        case ControlEvent():
            return item.subject.partition(":")[2]
        case ScheduleRow():
            return item.name
        case LedgerRow():
            return item.schedule
