"""What a worker does about the schedules that its app declares, before its first claim."""

import asyncio
import logging
from typing import Any

import psycopg
from attrs import define, field

from ..application.declarations import Declarations
from ..domain.commands import Origin
from ..domain.declaring import Action, Declared
from ..domain.errors import FencepostError
from .worker_container import WorkerContainer

_log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that the first claim waits for schedules at most."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before what the database did not let through is tried again; doubled each time."""

LOUD = {
    Action.DRIFTED: (logging.WARNING, "schedule %s is not what the code says: somebody has edited it"),
    Action.CONFLICT: (
        logging.WARNING,
        "schedule %s is left alone: the code and others have changed it; see `fencepost schedules sync`",
    ),
    Action.UNDECLARED: (
        logging.WARNING,
        "schedule %s still fires, but the code does not declare it any more",
    ),
    Action.FAILED: (logging.ERROR, "schedule %s could not be synced"),
}
"""What the log says of answers that somebody should look at."""


def reason(app: str) -> str:
    """Return why a sync changes schedules, for their events."""
    return f"declared by {app}"


@define
class Sync:
    """The app, by its import path, and what it declares. What goes wrong is logged once, and the worker goes on."""

    app: str
    declarations: Declarations
    _told: set[tuple[object, ...]] = field(factory=set)

    async def at_start(self, container: WorkerContainer) -> "asyncio.Task[None] | None":
        """Sync once; return what goes on trying if the database did not let all of it through."""
        try:
            async with asyncio.timeout(PATIENCE):
                done = await self._tried(container)
        except TimeoutError:
            _log.error("the app's schedules are not synced yet: the database takes long")
            done = False
        return None if done else asyncio.create_task(self._again(container))

    async def _again(self, container: WorkerContainer) -> None:
        pause = FIRST_PAUSE
        await asyncio.sleep(pause)
        while not await self._tried(container):
            pause = min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)
        _log.info("the app's schedules are synced now")

    async def _tried(self, container: WorkerContainer) -> bool:
        """Sync, and return whether nothing is left that another try could bring."""
        settings = container.worker_settings()
        origin = Origin(settings.worker, reason=reason(self.app), build=settings.build)
        done = True
        try:
            async for answer in container.syncing().sync(self.app, self.declarations, origin):
                done = done and not answer.again
                self._tell(answer)
        except FencepostError as error:
            self._say_once(logging.ERROR, "the app's schedules could not be synced: %s", str(error))
            done = False
        except psycopg.Error as error:  # such as a role that may not: it will not be allowed to later either
            self._say_once(logging.ERROR, "the app's schedules could not be synced: %s", str(error))
        finally:
            await container.database().close()  # a worker at work has no use for it
        return done

    def _tell(self, answer: Declared) -> None:
        extra: dict[str, Any] = {"schedule": answer.name, "action": answer.action.value}
        if answer.differences:
            extra["differences"] = [one.field for one in answer.differences]
        if answer.error is not None:
            extra["error"] = answer.error
        if answer.action in LOUD:
            level, text = LOUD[answer.action]
            self._say_once(level, text, answer.name, extra=extra)
        elif answer.action is not Action.UNCHANGED:
            _log.info("schedule %s: %s", answer.name, answer.action.value, extra=extra)

    def _say_once(self, level: int, text: str, about: str, extra: dict[str, Any] | None = None) -> None:
        if (text, about) not in self._told:
            self._told.add((text, about))
            _log.log(level, text, about, extra=extra)
