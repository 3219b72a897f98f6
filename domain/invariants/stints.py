"""What control events say of one schedule: stints, each from one change to the next, and what was asked for."""

from bisect import bisect_left
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import Factory, define, field, frozen

from .. import schedule_facts
from ..errors import InvalidInput
from ..event import ControlEvent
from ..limits import LATEST
from ..schedule import Policies, Timing
from ..vocabulary import ControlEventName as Name
from .moments import moment
from .requests import REQUESTS, Backfill, Trigger, data_of, learn_of_request

_CHANGES = frozenset(
    {
        Name.SCHEDULE_CREATED,
        Name.SCHEDULE_EDITED,
        Name.SCHEDULE_PAUSED,
        Name.SCHEDULE_RESUMED,
        Name.SCHEDULE_DELETED,
    }
)


@frozen(eq=False)
class Terms:
    """A definition that can be read; ``definition`` is the same as JSON values."""

    timing: Timing
    policies: Policies
    definition: Mapping[str, Any]

    @property
    def template(self) -> Mapping[str, Any]:
        """The facts of the jobs, but for what differs from one to the next."""
        job: Mapping[str, Any] = self.definition["job"]
        return job


@frozen(kw_only=True, eq=False)
class Stint:
    """What a change has brought, until the next one.

    ``first`` is the fire time that the change names as the next one, and those after ``since`` are the stint's: usually
    those after the change, but an edit that leaves the timing as it is goes on where the stint before it has come to.
    ``terms`` is None when the definition cannot be read.
    """

    name: Name
    position: int
    at: datetime
    since: datetime
    actor: str
    version: int
    terms: Terms | None
    active: bool
    first: datetime | None
    tz_version: str | None

    @property
    def exists(self) -> bool:
        """Whether there is a schedule."""
        return self.name is not Name.SCHEDULE_DELETED


@define(eq=False)
class Changes:
    """All changes of the schedules of one name, in order; ``faults`` tells where they do not follow each other.

    ``questions`` has definitions that this version cannot read, or no more: a zone may be gone from the tz database.
    """

    stints: list[Stint] = Factory(list)
    requests: dict[str, Trigger | Backfill] = Factory(dict)
    """What operations have asked for, by the origin of its firings."""
    faults: list[tuple[int, str]] = Factory(list)
    questions: list[str] = Factory(list)
    _positions: list[int] = field(factory=list)

    @property
    def last(self) -> Stint | None:
        """The stint that lasts."""
        return self.stints[-1] if self.stints else None

    def in_force(self, position: int) -> Stint | None:
        """Return the stint that a position lies in."""
        index = bisect_left(self._positions, position) - 1
        return self.stints[index] if index >= 0 else None

    def learn(self, event: ControlEvent) -> None:
        """Take in the next event; names this version does not know teach nothing."""
        if event.position is None:
            return
        if event.name in REQUESTS:
            learn_of_request(event, event.position, self.requests)
        elif event.name in _CHANGES:
            stint = _stint(event, event.position, self.last)
            self.faults += [(event.position, fault) for fault in _faults(stint, self.last)]
            if stint.terms is None:
                self.questions.append(
                    f"{stint.name}: the definition of version {stint.version} cannot be read"
                )
            self.stints.append(stint)
            self._positions.append(event.position)


def _stint(event: ControlEvent, position: int, before: Stint | None) -> Stint:
    name, data = event.name, data_of(event)
    terms = before.terms if before else None
    if name in schedule_facts.DEFINING:
        terms = _terms(data.get("definition"))
    first = moment(data.get("next_fire_at"))
    goes_on = _goes_on(name, terms, before)
    version = data.get("version")
    born = name is Name.SCHEDULE_CREATED
    return Stint(
        name=name,
        position=position,
        at=event.at,
        since=_end(first) if goes_on else event.at,
        actor=event.actor,
        version=version if isinstance(version, int) else 0,
        terms=terms,
        active=born
        or name is Name.SCHEDULE_RESUMED
        or (name is Name.SCHEDULE_EDITED and before is not None and before.active),
        first=first,
        tz_version=data.get("tz_version", before.tz_version if goes_on and before is not None else None),
    )


def _end(first: datetime | None) -> datetime:
    """Return up to where all was decided when a schedule fires next at ``first``, or never."""
    return (LATEST if first is None else first) - LATEST.resolution


def _goes_on(name: Name, terms: Terms | None, before: Stint | None) -> bool:
    """Whether a change leaves the fire times as they are."""
    if name is not Name.SCHEDULE_EDITED or before is None or not before.active:
        return False
    return terms is not None and before.terms is not None and terms.timing == before.terms.timing


def _terms(definition: object) -> Terms | None:
    """Read a definition, and try its expression."""
    if not isinstance(definition, Mapping):
        return None
    try:
        read = schedule_facts.restore(definition, None)
        _ = read.timing.recurrence
        if _is_naive(read.timing.start) or _is_naive(read.timing.ends_at):
            return None
    except (InvalidInput, LookupError, TypeError, ValueError, ArithmeticError):
        return None
    return Terms(read.timing, read.policies, definition)


def _is_naive(moment: datetime | None) -> bool:
    return moment is not None and moment.tzinfo is None


def _faults(stint: Stint, before: Stint | None) -> list[str]:
    """Say what is wrong with a change, given the one before it."""
    there = before is not None and before.exists
    faults = []
    if (stint.name is Name.SCHEDULE_CREATED) is there:
        faults.append(f"{stint.name} although it was {'there' if there else 'not there'}")
    expected = 1 if before is None else before.version + 1
    if stint.version != expected:
        faults.append(f"{stint.name} makes it version {stint.version}, not {expected}: an event is missing")
    if not stint.active and stint.first is not None:
        faults.append(f"{stint.name} says that it fires next at {stint.first}")
    turns = (Name.SCHEDULE_PAUSED, Name.SCHEDULE_RESUMED)
    if before is not None and stint.name in turns and before.active is stint.active:
        faults.append(f"{stint.name} although it was {'active' if before.active else 'paused'}")
    return faults
