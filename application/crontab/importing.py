"""Taking a crontab over: what there is to do, and doing it, again and again with the same end."""

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

from ...domain.commands import Origin
from ...domain.schedule import Definition, Schedule
from ..scheduling import PAGE_MOST, Scheduling
from .definitions import Terms, source_of, taken_over, wanted
from .found import Crontab, Entry, Refusal, Refused
from .naming import mark

Kind = Literal["create", "change", "keep"]


@frozen(kw_only=True)
class Step:
    """What becomes of one entry; ``there`` is the schedule as it is, None for a new one."""

    kind: Kind
    entry: Entry
    definition: Definition
    there: Schedule | None = None


@frozen
class Clash:
    """An entry whose name belongs to a schedule from elsewhere."""

    entry: Entry
    source: str | None
    """The other crontab; None for a schedule that comes from none."""


@frozen(kw_only=True)
class Plan:
    """All there is to do. ``vanished`` are schedules of the same crontab whose names no entry has any more."""

    steps: Sequence[Step]
    refusals: Sequence[Refusal]
    clashes: Sequence[Clash]
    vanished: Sequence[Schedule]

    def of(self, kind: Kind) -> list[Step]:
        """Return the steps of one kind."""
        return [step for step in self.steps if step.kind == kind]

    def renamed(self, schedule: Schedule) -> str | None:
        """Return the name that the line of a vanished schedule has now, which another prefix gives it, if any."""
        entries = [step.entry for step in self.steps] + [clash.entry for clash in self.clashes]
        return {mark(entry.name): entry.name for entry in entries}.get(mark(schedule.name))


@frozen
class Importing:
    """The use case, on top of the one for single schedules."""

    _scheduling: Scheduling

    async def compare(self, crontab: Crontab, terms: Terms) -> Plan:
        """Return what there is to do; raises Unavailable."""
        return plan(crontab, terms, await self._there())

    async def carry_out(self, found: Plan, origin: Origin, *, prune: bool = False) -> None:
        """Create and change what the plan says, and delete what has vanished if told to; each by itself.

        What others have changed since the plan was made is left alone: raises ScheduleExists, VersionConflict,
        ScheduleNotFound, and then, as for UnknownOutcome and Unavailable, comparing again tells what is left to do.
        """
        for step in found.of("create"):
            await self._scheduling.create(step.entry.name, step.definition, origin)
        for step in found.of("change"):
            version = None if step.there is None else step.there.version
            await self._scheduling.edit(step.entry.name, step.definition, origin, version=version)
        for schedule in found.vanished if prune else ():
            await self._scheduling.delete(schedule.name, origin, version=schedule.version)

    async def _there(self) -> dict[str, Schedule]:
        found: dict[str, Schedule] = {}
        after = ""
        while page := await self._scheduling.list(after=after, limit=PAGE_MOST):
            found |= {schedule.name: schedule for schedule in page}
            after = page[-1].name
        return found


def plan(crontab: Crontab, terms: Terms, there: Mapping[str, Schedule]) -> Plan:
    """Return what there is to do beside the schedules that are there, by name."""
    steps: list[Step] = []
    refusals: list[Refusal] = [*crontab.refusals]
    clashes: list[Clash] = []
    for entry in crontab.entries:
        try:
            found = _compared(entry, wanted(entry, terms), there.get(entry.name), terms)
        except Refused as refused:
            refusals.append(Refusal(entry.line, entry.command, refused.reason, refused.instead))
            continue
        if isinstance(found, Step):
            steps.append(found)
        else:
            clashes.append(found)
    names = {entry.name for entry in crontab.entries}
    vanished = [one for one in there.values() if one.name not in names and _is_of(one, terms)]
    return Plan(
        steps=steps,
        refusals=sorted(refusals, key=lambda refusal: refusal.line),
        clashes=clashes,
        vanished=vanished,
    )


def _compared(entry: Entry, definition: Definition, there: Schedule | None, terms: Terms) -> Step | Clash:
    if there is None:
        return Step(kind="create", entry=entry, definition=definition)
    source = source_of(there.definition)
    if source != terms.source and not (terms.take_over and source is not None):
        return Clash(entry, source)
    changed = taken_over(there.definition, definition, terms)
    kind: Kind = "keep" if changed == there.definition else "change"
    return Step(kind=kind, entry=entry, definition=changed, there=there)


def _is_of(schedule: Schedule, terms: Terms) -> bool:
    return source_of(schedule.definition) == terms.source
