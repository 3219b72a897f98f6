"""Work on many schedules in one transaction; what fails so is done one by one, and who fails alone is set aside."""

import logging
from collections.abc import Callable, Iterable, Sequence

from attrs import frozen

from ...application.ports.schedule_store import Fired
from ...domain.schedule import Schedule
from . import schedule_rows as rows
from .aside import Aside
from .database import Database
from .errors import REFUSED, passes, said
from .query import Plan
from .schedule_statements import schedule_statements

Mark = tuple[str, int]
"""The name and the version of a schedule: a change of it takes it back from where it is set aside."""

_log = logging.getLogger(__name__)


@frozen(kw_only=True, eq=False)
class Found:
    """Schedules whose rows are locked, and whether there may be more."""

    schedules: Sequence[Schedule] = ()
    full: bool = False


@frozen(eq=False)
class Refusal:
    """A schedule, and why the database takes nothing of what was decided about it."""

    schedule: Schedule
    rule: str


@frozen(eq=False)
class Round:
    """What a round has come to, the queues that got jobs or cancellations, and who could not be served."""

    fired: Fired
    queues: frozenset[str] = frozenset()
    refused: Sequence[Refusal] = ()


Find = Callable[[], Plan[Found]]
CarryOut = Callable[[Found], Plan[Round]]


class Together:
    """Does something for all schedules that are found, in one transaction as long as none of them spoils it.

    A schedule that fails alone has no share in what follows until a while has passed, or somebody has changed it. What
    passes by itself (no contact, a lock that isn't granted, a full disk) is nobody's fault, and ends the round.
    """

    def __init__(self, database: Database, aside: Aside[Mark]) -> None:
        """Work on this database."""
        self._database, self._aside = database, aside
        self._statements = schedule_statements(database.schema)

    async def run(self, find: Find, carry_out: CarryOut) -> Round:
        """Carry it out for whoever is found."""
        found: list[Found] = []

        def plan() -> Plan[Round]:
            found[:] = [(yield from find())]
            return (yield from carry_out(found[0]))

        try:
            return await self._database.run(plan)
        except Exception as error:
            if passes(error) or not found:
                raise
            _log.warning("schedules are carried out one by one after a failure: %s", said(error))
        return await self._one_by_one(found[0].schedules, carry_out)

    def sound(self, schedules: Iterable[Schedule]) -> list[Schedule]:
        """Return the schedules that are not set aside."""
        return [one for one in schedules if _mark(one) not in self._aside]

    def unchanged(self, schedule: Schedule) -> Plan[bool]:
        """Lock a schedule's row, and tell whether it is still as it was found."""
        found = yield self._statements.lock(name=schedule.name)
        return bool(found) and rows.schedule(found[0]) == schedule

    async def _one_by_one(self, schedules: Sequence[Schedule], carry_out: CarryOut) -> Round:
        queues = frozenset[str]()
        refused: list[Refusal] = []
        for schedule in schedules:
            try:
                queues |= await self._alone(schedule, carry_out)
            except Exception as error:
                if passes(error):
                    raise
                self._set_aside(schedule, error)
                if isinstance(error, REFUSED):
                    refused.append(Refusal(schedule, said(error)))
        return Round(Fired(schedules=len(schedules), full=True, next_in=None), queues, refused)

    async def _alone(self, schedule: Schedule, carry_out: CarryOut) -> frozenset[str]:
        def plan() -> Plan[frozenset[str]]:
            if not (yield from self.unchanged(schedule)):
                return frozenset()
            return (yield from carry_out(Found(schedules=[schedule]))).queues

        return await self._database.run(plan)

    def _set_aside(self, schedule: Schedule, error: Exception) -> None:
        self._aside.put(_mark(schedule))
        _log.error(
            "schedule %s can't be carried out: %s",
            schedule.name,
            said(error),
            exc_info=None if isinstance(error, REFUSED) else error,
        )


def _mark(schedule: Schedule) -> Mark:
    return schedule.name, schedule.version
