"""Forgers: they change one event of an honest history and rewrite the row to fit."""

from typing import Any

from attrs import evolve, frozen

from fencepost.domain.errors import HistoryError
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import fold
from fencepost.domain.invariants import Report
from support.histories import STORIES, judged

GONE = object()


@frozen
class Change:
    """Set fields of the event ``seq`` of a story; ``data`` replaces keys, GONE removes one."""

    story: str
    seq: int
    fields: dict[str, Any]
    breaks: str
    data: dict[str, Any] | None = None

    def forged(self) -> list[JobEvent]:
        """The history with the change."""
        events = list(STORIES[self.story]().events)
        index = self.seq - 1 if self.seq > 0 else self.seq
        event = evolve(events[index], **self.fields)
        if self.data is not None:
            kept = {key: value for key, value in {**event.data, **self.data}.items() if value is not GONE}
            event = evolve(event, data=kept)
        events[index] = event
        return events


def change(story: str, seq: int, breaks: str, *, data: dict[str, Any] | None = None, **fields: Any) -> Change:
    """Say what to change and which invariants that breaks, for instance ``I4 I15``."""
    return Change(story, seq, fields, breaks, data)


def forged(change: Change) -> Report:
    """Judge the changed history beside the row that the forger made to fit."""
    events = change.forged()
    try:
        row = fold(events)
    except (KeyError, HistoryError):  # not even the forger can make a row of this
        row = STORIES[change.story]().row
    return judged(events, row)
