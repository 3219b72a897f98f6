"""The schedules that one app's code declares, and bringing them to the database."""

from collections.abc import AsyncIterator, Iterator

from attrs import field, frozen

from ..domain.commands import Origin
from ..domain.declaring import EVENTS, Action, Declared, judged
from ..domain.errors import FencepostError, InvalidInput
from ..domain.schedule import Definition, Schedule
from ..domain.scheduling import check_definition
from ..domain.values import check_name
from .ports.schedule_store import ScheduleReader
from .scheduling import Scheduling


@frozen
class Declarations:
    """Definitions by name, each in the form in which it is stored."""

    _by_name: dict[str, Definition] = field(factory=dict)

    def add(self, name: str, definition: Definition) -> None:
        """Declare a schedule; raises InvalidInput naming the field and the rule, also for a name that is taken."""
        if check_name("name", name) in self._by_name:
            raise InvalidInput("name", f"must be declared once in an app, and {name} is there already")
        self._by_name[name] = check_definition(definition)

    def __iter__(self) -> Iterator[tuple[str, Definition]]:
        """Go through names and definitions in order of declaration."""
        return iter(self._by_name.items())

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._by_name)


@frozen(kw_only=True)
class How:
    """How to sync: ``force`` lets the code have its way, ``prune`` deletes what it does not declare any more.

    ``dry_run`` answers what would be done and changes nothing.
    """

    force: bool = False
    prune: bool = False
    dry_run: bool = False


AT_A_START = How()


@frozen
class Syncing:
    """The use case; any number of processes may do it at once, and doing it again changes nothing."""

    _scheduling: Scheduling
    _reader: ScheduleReader

    async def sync(
        self, app: str, declarations: Declarations, origin: Origin, how: How = AT_A_START
    ) -> AsyncIterator[Declared]:
        """Yield the answer about each schedule that the app declares, or once declared, as it comes.

        One that fails is answered as ``FAILED``, and the others go on. Raises Unavailable when the database does not
        say what is there.
        """
        wanted = dict(declarations)
        there = {one.name: one for one in await self._reader.declared(app, sorted(wanted))}
        for name, definition in wanted.items():
            answer = judged(name, there.get(name), app, definition, force=how.force)
            if answer.action in EVENTS and not how.dry_run:
                yield await self._declared(name, definition, origin, app, how)
            else:
                yield answer
        for name in sorted(there.keys() - wanted.keys()):
            yield await self._left_over(there[name], origin, how)

    async def _declared(
        self, name: str, definition: Definition, origin: Origin, app: str, how: How
    ) -> Declared:
        try:
            return await self._scheduling.declare(name, definition, origin, app=app, force=how.force)
        except FencepostError as error:
            return _failed(name, error)

    async def _left_over(self, schedule: Schedule, origin: Origin, how: How) -> Declared:
        answer = Declared(
            name=schedule.name,
            action=Action.DELETED if how.prune else Action.UNDECLARED,
            declared_by=None if schedule.declared is None else schedule.declared.app,
        )
        if not how.prune or how.dry_run:
            return answer
        try:
            await self._scheduling.delete(schedule.name, origin, version=schedule.version)
        except FencepostError as error:
            return _failed(schedule.name, error)
        return answer


def _failed(name: str, error: FencepostError) -> Declared:
    wrong = isinstance(error, InvalidInput)
    return Declared(name=name, action=Action.FAILED, error=str(error), again=not wrong)
