"""What a worker does about the schedules that its app declares, before its first claim."""

import asyncio
import logging
from typing import Any

import psycopg
from attrs import frozen

from ..application.declarations import Declarations
from ..domain.commands import Origin
from ..domain.declaring import Action, Declared
from ..domain.errors import FencepostError
from .worker_container import WorkerContainer

_log = logging.getLogger(__name__)

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


@frozen
class Sync:
    """The app, by its import path, and what it declares."""

    app: str
    declarations: Declarations

    async def at_start(self, container: WorkerContainer, stopping: asyncio.Event) -> None:
        """Sync until done or asked to stop; what goes wrong is logged, and the worker goes on."""
        settings = container.worker_settings()
        origin = Origin(settings.worker, reason=reason(self.app), build=settings.build)
        try:
            async for answer in container.syncing().sync(self.app, self.declarations, origin):
                _tell(answer)
                if stopping.is_set():
                    return
        except (FencepostError, psycopg.Error) as error:
            _log.error("the app's schedules could not be synced: %s", error)
        finally:
            await container.database().close()  # a worker at work has no use for it


def _tell(answer: Declared) -> None:
    extra: dict[str, Any] = {"schedule": answer.name, "action": answer.action.value}
    if answer.differences:
        extra["differences"] = [one.field for one in answer.differences]
    if answer.error is not None:
        extra["error"] = answer.error
    if answer.action in LOUD:
        level, text = LOUD[answer.action]
        _log.log(level, text, answer.name, extra=extra)
    elif answer.action is not Action.UNCHANGED:
        _log.info("schedule %s: %s", answer.name, answer.action.value, extra=extra)
