"""What is told of backfills beside their rows: their ids, their events, whose jobs they make."""

from typing import Any

from attrs import evolve

from .backfill import Backfill, Step, Wanted
from .commands import Origin
from .errors import KeyConflict
from .facts import instant
from .firing import Decided
from .firing_jobs import actor, operation_origin
from .schedule import Overlap, Schedule, unreadable


def backfill_id(name: str, origin: Origin) -> str:
    """Return the id of what a request asks of a schedule: the same whenever it is repeated."""
    return operation_origin("backfill", f"{name}\n{origin.request_id or ''}")


def repeated(there: Backfill, wanted: Wanted) -> Backfill:
    """Return the answer to a request whose id was used before; raises KeyConflict unless for the same."""
    if there.wanted != wanted:
        raise KeyConflict(
            f"this key or request id has asked for another backfill of schedule {there.schedule}"
        )
    return there


def is_apart(backfill: Backfill) -> bool:
    """Whether its jobs run beside all others: they are not counted among the schedule's, and wait for none."""
    return backfill.wanted.overlap is Overlap.ALLOW


def broken(backfill: Backfill, *, is_lost: bool = False) -> Origin | None:
    """Return who ends a backfill that nobody can carry out any more, and why; None for any other.

    Its range can't be read, or its schedule can't (``is_lost``).
    """
    if is_lost:
        return evolve(finisher(backfill), reason="its schedule can't be read")
    rule = unreadable(backfill.timing)
    return None if rule is None else evolve(finisher(backfill), reason=f"its fire times are unknown: {rule}")


def refused(backfill: Backfill, rule: str) -> Origin:
    """Return who ends a backfill whose decisions the database takes from nobody, and why."""
    return evolve(finisher(backfill), reason=f"the database refuses it: {rule}")


def making(schedule: Schedule, backfill: Backfill) -> Schedule:
    """Return the schedule as it makes jobs for a backfill: with the priority that was wanted."""
    priority, definition = backfill.wanted.priority, schedule.definition
    if priority is None:
        return schedule
    template = evolve(definition.template, priority=priority)
    return evolve(schedule, definition=evolve(definition, template=template))


def decision(schedule: Schedule, step: Step) -> Decided:
    """Return a step as a decision about the schedule, which stands where it stood."""
    return Decided(firings=step.firings, next_fire_at=schedule.next_fire_at, waiting=schedule.waiting)


def beginning(backfill: Backfill) -> dict[str, Any]:
    """Return the data of the event that tells of its beginning."""
    wanted = backfill.wanted
    return {
        "backfill_id": backfill.backfill_id,
        "from": instant(wanted.from_at),
        "to": instant(wanted.to_at),
        "priority": wanted.priority,
        "overlap": wanted.overlap.value,
        "fire_times": backfill.total,
    }


def end(backfill: Backfill) -> dict[str, Any]:
    """Return the data of the event that tells of its end."""
    return {
        "backfill_id": backfill.backfill_id,
        "ending": backfill.ending,
        "decided": backfill.decided,
        "fired": backfill.fired,
    }


def finisher(backfill: Backfill) -> Origin:
    """Return who ends it once all is decided: the schedule, for the request."""
    return Origin(actor(backfill.schedule), backfill.origin.request_id)
