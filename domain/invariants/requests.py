"""What operations have asked of a schedule, as its control events tell: triggers and backfills."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import define, frozen

from ..event import ControlEvent
from ..schedule import Overlap
from ..vocabulary import ControlEventName as Name
from .moments import moment

REQUESTS = frozenset({Name.SCHEDULE_TRIGGERED, Name.SCHEDULE_BACKFILL_STARTED, Name.SCHEDULE_BACKFILL_ENDED})


@frozen
class Trigger:
    """A firing that somebody asked for."""

    at: datetime
    fire_at: datetime | None
    overlap: object


@define(eq=False)
class Backfill:
    """A range that somebody asked for; ``decided`` and ``fired`` are what its end tells, None while it goes on."""

    position: int
    from_at: datetime | None
    to_at: datetime | None
    overlap: object
    fire_times: object
    ending: object = None
    decided: object = None
    fired: object = None


def learn_of_request(event: ControlEvent, position: int, known: dict[str, Trigger | Backfill]) -> None:
    """Take in an event of ``REQUESTS``."""
    data = data_of(event)
    if event.name is Name.SCHEDULE_TRIGGERED:
        trigger = Trigger(event.at, moment(data.get("fire_at")), data.get("overlap"))
        known[str(data.get("origin"))] = trigger
        return
    origin = str(data.get("backfill_id"))
    if event.name is Name.SCHEDULE_BACKFILL_STARTED:
        first, last = moment(data.get("from")), moment(data.get("to"))
        known[origin] = Backfill(position, first, last, data.get("overlap"), data.get("fire_times"))
    elif isinstance(begun := known.get(origin), Backfill):
        begun.ending, begun.decided, begun.fired = data.get("ending"), data.get("decided"), data.get("fired")


def data_of(event: ControlEvent) -> Mapping[str, Any]:
    """Return an event's data, or nothing if it is none."""
    data: object = event.data
    return data if isinstance(data, Mapping) else {}


def alone(overlap: object) -> bool:
    """Whether a policy lets a job begin only when no other of the schedule is unfinished."""
    return overlap in (Overlap.SKIP, Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING)
