"""The app: where a program registers its handlers and submits its jobs."""

import asyncio
import inspect
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, Unpack
from weakref import WeakKeyDictionary

from ...application.handlers import ExecutorName, Handler, Handlers
from ...application.signature import signature
from ...application.submitting import SubmitRequest, submissions
from ...domain import commands as c
from ...domain.errors import InvalidInput
from ...domain.job import Job
from ...domain.values import check_name
from ...domain.vocabulary import Verdict
from .job_type import JobType
from .options import TypeOptions, job_fields

if TYPE_CHECKING:
    from ...application.context import Context
    from ...application.ports.submitter import Submitted
    from ...domain.event import JobEvent
    from ..container import Container

P = ParamSpec("P")
PRINCIPAL = "library"
ACTOR = "user:library"


class Fencepost:
    """One set of handlers and one database; nothing connects before the first submit, nothing is global.

    ``database_url`` None reads the settings (FENCEPOST_DATABASE_URL, DATABASE_URL, PG*, ``fencepost.toml``). Each event
    loop gets connections of its own; leave them with ``async with app`` or ``await app.close()``.
    """

    def __init__(self, database_url: str | None = None, *, schema: str | None = None) -> None:
        """Remember where the database is."""
        self.handlers = Handlers()
        self._flags = {"database_url": database_url, "schema": schema}
        self._containers: WeakKeyDictionary[asyncio.AbstractEventLoop, Container] = WeakKeyDictionary()
        self._sync_container: Container | None = None

    def job(
        self,
        type: str | None = None,
        *,
        executor: ExecutorName | None = None,
        **options: Unpack[TypeOptions],
    ) -> Callable[[Callable[Concatenate["Context", P], Any]], JobType[P]]:
        """Register a handler; coroutine functions run on the event loop, plain ones in threads.

        ``type`` defaults to the function's name. Raises InvalidInput, HandlerClash, BadHandler.
        """
        job_fields(options)

        def register(function: Callable[Concatenate["Context", P], Any]) -> JobType[P]:
            name = check_name("type", type or function.__name__)
            known = signature(function)
            runs = executor or ("async" if inspect.iscoroutinefunction(function) else "thread")
            if (runs == "async") is not inspect.iscoroutinefunction(function):
                raise InvalidInput(
                    "executor", f"{name} must be a coroutine function exactly for the async executor"
                )
            queue = options.get("queue", "default")
            self.handlers.add(Handler(name, queue, function, runs, known.bind))
            return JobType(self, name, function, known, dict(options))

        return register

    async def submit_many(
        self, requests: Sequence[SubmitRequest], *, tx: object | None = None
    ) -> Sequence["Submitted"]:
        """Submit what ``JobType.request`` made, all or nothing, answered in order.

        Raises InvalidItem naming the index of a bad one, and what ``JobType.submit`` raises.
        """
        return await self.submit_requests(requests, self.origin(), tx)

    async def submit_requests(
        self, requests: Sequence[SubmitRequest], origin: c.Origin, tx: object | None
    ) -> Sequence["Submitted"]:
        """Submit in a transaction of our own, or in the caller's."""
        checked = submissions(requests, origin, PRINCIPAL)
        container = await self._opened()
        if tx is not None:
            return await container.callers_transactions().submit_in(tx, checked)
        return await container.submitter().submit(checked)

    def submit_requests_sync(
        self, requests: Sequence[SubmitRequest], origin: c.Origin, tx: object | None
    ) -> Sequence["Submitted"]:
        """Do the same from synchronous code."""
        checked = submissions(requests, origin, PRINCIPAL)
        if self._sync_container is None:
            self._sync_container = self._build()
        if tx is not None:
            return self._sync_container.callers_transactions().submit_in_sync(tx, checked)
        return self._sync_container.sync_submitter().submit(checked)

    async def get(self, job_id: int) -> Job | None:
        """Return a job as it is now, or None."""
        return await (await self._opened()).job_reader().get(job_id)

    async def history(self, job_id: int) -> Sequence["JobEvent"]:
        """Return a job's events, oldest first."""
        return await (await self._opened()).event_log().history(job_id)

    async def cancel(self, job_id: int, *, reason: str | None = None, actor: str = ACTOR) -> Verdict:
        """Cancel a pending job or ask a running one to stop.

        Raises JobNotFound, WrongState, Unavailable, UnknownOutcome.
        """
        return await self.operate(job_id, c.Cancel(origin=self.origin(actor, None, reason)))

    async def operate(self, job_id: int, operation: c.Operation) -> Verdict:
        """Apply any operation of ``fencepost.domain.commands``; raises as ``cancel`` does, and InvalidInput."""
        return await (await self._opened()).operating().one(job_id, operation)

    async def pause(self, queue: str, *, reason: str | None = None, actor: str = ACTOR) -> Verdict:
        """Stop claims from a queue; when this returns, claims that began before are over."""
        origin = self.origin(actor, None, reason)
        return await (await self._opened()).queue_store().pause(check_name("queue", queue), origin)

    async def resume(self, queue: str, *, reason: str | None = None, actor: str = ACTOR) -> Verdict:
        """Let claims go on."""
        origin = self.origin(actor, None, reason)
        return await (await self._opened()).queue_store().resume(check_name("queue", queue), origin)

    def origin(
        self, actor: str | None = None, request_id: str | None = None, reason: str | None = None
    ) -> c.Origin:
        """Return the paper trail of one call; every call has a request id."""
        return c.Origin(actor or ACTOR, request_id or str(uuid.uuid4()), reason)

    async def close(self) -> None:
        """Close the connections of the running event loop, and the synchronous one."""
        container = self._containers.pop(asyncio.get_running_loop(), None)
        if container is not None:
            from ..container import closed  # noqa: PLC0415 - as in _build

            await closed(container)
        self.close_sync()

    def close_sync(self) -> None:
        """Close the synchronous connection."""
        if self._sync_container is not None:
            self._sync_container.sync_submitter().close()
            self._sync_container = None

    async def __aenter__(self) -> Self:
        """Connect."""
        await self._opened()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    def _build(self) -> "Container":
        from ..container import build  # noqa: PLC0415 - loads the database driver, which --help does not need

        return build(self._flags, self.handlers)

    async def _opened(self) -> "Container":
        loop = asyncio.get_running_loop()
        if loop not in self._containers:
            self._containers[loop] = self._build()
        from ..container import opened  # noqa: PLC0415 - as in _build

        return await opened(self._containers[loop])
