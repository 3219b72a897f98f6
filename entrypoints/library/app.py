"""The app: where a program registers its handlers and submits its jobs."""

import inspect
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, Unpack, get_args, overload

from ...application.handlers import ExecutorName, Handler, Handlers
from ...application.ports.submitter import Submission
from ...application.signature import signature
from ...application.submitting import SubmitRequest, submission, submissions
from ...domain import commands as c
from ...domain.errors import InvalidInput
from ...domain.job import Job
from ...domain.submission import check_origin
from ...domain.values import check_name
from ...domain.vocabulary import Verdict
from ..schema import explained
from .connections import Connections
from .job_type import JobType
from .options import ScheduleOptions, TypeOptions, job_fields

if TYPE_CHECKING:
    from ...application.context import Context
    from ...application.declarations import Declarations
    from ...application.ports.submitter import Submitted
    from ...domain.event import JobEvent
    from ..container import Container

P = ParamSpec("P")
PRINCIPAL = "library"
ACTOR = "user:library"


class Fencepost:
    """One set of handlers and one database; nothing connects before the first submit, nothing is global.

    ``database_url`` None reads the settings (FENCEPOST_DATABASE_URL, DATABASE_URL, PG*, ``fencepost.toml``), else takes
    the server that ``fencepost up`` runs in this folder. Each event loop and each process gets connections of its own,
    which are closed with the loop and at the end of the program, or earlier by ``async with app`` or ``close``.
    """

    def __init__(self, database_url: str | None = None, *, schema: str | None = None) -> None:
        """Remember where the database is."""
        self.handlers = Handlers()
        self._flags: dict[str, object] = {"database_url": database_url, "schema": schema}
        self._connections = Connections(self._flags, self.handlers)

    @overload
    def job(self, function: Callable[Concatenate["Context", P], Any], /) -> JobType[P]: ...

    @overload
    def job(
        self,
        type: str | None = None,
        *,
        executor: ExecutorName | None = None,
        **options: Unpack[TypeOptions],
    ) -> Callable[[Callable[Concatenate["Context", P], Any]], JobType[P]]: ...

    def job(
        self,
        type: str | Callable[Concatenate["Context", P], Any] | None = None,
        *,
        executor: ExecutorName | None = None,
        **options: Unpack[TypeOptions],
    ) -> JobType[P] | Callable[[Callable[Concatenate["Context", P], Any]], JobType[P]]:
        """Register a handler; coroutine functions run on the event loop, plain ones in threads.

        ``type`` defaults to the function's name; ``@app.job`` without parentheses takes all defaults. Raises
        InvalidInput, HandlerClash, BadHandler.
        """
        if callable(type):
            return self._register(type, None, None, options)
        name = type
        return lambda function: self._register(function, name, executor, options)

    def _register(
        self,
        function: Callable[Concatenate["Context", P], Any],
        type: str | None,
        executor: ExecutorName | None,
        options: TypeOptions,
    ) -> JobType[P]:
        fields = job_fields(options, TypeOptions)
        name = check_name("type", getattr(function, "__name__", None) if type is None else type)
        job_type = JobType(self, name, function, signature(function), fields)
        job_type.check()
        runs = _executor(name, function, executor)
        queue = fields.get("queue", "default")
        self.handlers.add(Handler(name, queue, function, runs, job_type.signature.bind))
        return job_type

    @cached_property
    def schedules(self) -> "Declarations":
        """The schedules that this app declares."""
        from ...application.declarations import Declarations  # noqa: PLC0415 - as in ``schedule``

        return Declarations()

    def schedule(
        self,
        name: str,
        cron: str,
        job: JobType[...] | SubmitRequest,
        *,
        payload: Mapping[str, Any] | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> None:
        """Declare a schedule, which ``fencepost worker`` and ``fencepost schedules sync`` bring to the database.

        ``job`` is a job type of this app, with or without ``options(…)``, whose arguments are ``payload``; or
        ``job_type.request(…)``, where a type checker sees the arguments. Nothing connects here, but all is checked:
        raises InvalidInput naming the field and the rule, also for a name that this app declares already.
        """
        from .schedules import check_fits, defined  # noqa: PLC0415 - loads the rules of cron, and few programs declare

        request = self._template(job, payload)
        template = self.checked(check_fits(request), self.origin()).command.specification
        self.schedules.add(name, defined(cron, template, options))

    def _template(
        self, job: JobType[...] | SubmitRequest, payload: Mapping[str, Any] | None
    ) -> SubmitRequest:
        if isinstance(job, JobType) and job.app is self:
            return job.template({} if payload is None else payload)
        if not isinstance(job, SubmitRequest) or job.type not in self.handlers.types:
            raise InvalidInput("job", "must be a job type of this app, or what its `request` returned")
        if payload is not None:
            raise InvalidInput("payload", "must not be given: the request has one")
        return job

    async def submit_many(
        self,
        requests: Sequence[SubmitRequest],
        *,
        tx: object | None = None,
        actor: str | None = None,
        request_id: str | None = None,
        reason: str | None = None,
    ) -> Sequence["Submitted"]:
        """Submit what ``JobType.request`` made, all or nothing, answered in order.

        Raises InvalidItem naming the index of a bad one, and what ``JobType.submit`` raises.
        """
        checked = submissions(requests, self.origin(actor, request_id, reason), PRINCIPAL)
        return await self.accept(checked, tx) if checked else []

    def submit_many_sync(
        self,
        requests: Sequence[SubmitRequest],
        *,
        tx: object | None = None,
        actor: str | None = None,
        request_id: str | None = None,
        reason: str | None = None,
    ) -> Sequence["Submitted"]:
        """Do the same from synchronous code."""
        checked = submissions(requests, self.origin(actor, request_id, reason), PRINCIPAL)
        return self.accept_sync(checked, tx) if checked else []

    async def accept(self, checked: Sequence[Submission], tx: object | None) -> Sequence["Submitted"]:
        """Submit in a transaction of our own, or in the caller's."""
        with explained():
            if tx is not None:
                return await self._connections.of_callers.submit_in(tx, checked)
            return await (await self._connected()).submitter().submit(checked)

    def accept_sync(self, checked: Sequence[Submission], tx: object | None) -> Sequence["Submitted"]:
        """Do the same from synchronous code, in any thread; an event loop in the same thread is blocked meanwhile."""
        with explained():
            if tx is not None:
                return self._connections.of_callers.submit_in_sync(tx, checked)
            return self._connections.in_threads().submit(checked)

    def checked(self, request: SubmitRequest, origin: c.Origin) -> Submission:
        """Check one job of this app's; raises InvalidInput."""
        return submission(request, origin, PRINCIPAL)

    async def get(self, job_id: int) -> Job | None:
        """Return a job as it is now, or None."""
        with explained():
            return await (await self._connected()).job_reader().get(job_id)

    async def history(self, job_id: int) -> Sequence["JobEvent"]:
        """Return a job's events, oldest first."""
        with explained():
            return await (await self._connected()).event_log().history(job_id)

    async def cancel(self, job_id: int, *, reason: str | None = None, actor: str = ACTOR) -> Verdict:
        """Cancel a pending job or ask a running one to stop.

        Raises JobNotFound, WrongState, Unavailable, UnknownOutcome, MigrationsPending.
        """
        return await self.operate(job_id, c.Cancel(origin=self.origin(actor, None, reason)))

    async def operate(self, job_id: int, operation: c.Operation) -> Verdict:
        """Apply any operation of ``fencepost.domain.commands``; raises as ``cancel`` does, and InvalidInput."""
        with explained():
            return await (await self._connected()).operating().one(job_id, operation)

    async def pause(self, queue: str, *, reason: str | None = None, actor: str = ACTOR) -> Verdict:
        """Stop claims from a queue; when this returns, claims that began before are over."""
        origin = self.origin(actor, None, reason)
        with explained():
            return await (await self._connected()).queue_store().pause(check_name("queue", queue), origin)

    async def resume(self, queue: str, *, reason: str | None = None, actor: str = ACTOR) -> Verdict:
        """Let claims go on."""
        origin = self.origin(actor, None, reason)
        with explained():
            return await (await self._connected()).queue_store().resume(check_name("queue", queue), origin)

    def origin(
        self, actor: str | None = None, request_id: str | None = None, reason: str | None = None
    ) -> c.Origin:
        """Return the paper trail of one call; every call has a request id. Raises InvalidInput."""
        origin = c.Origin(actor or ACTOR, request_id or str(uuid.uuid4()), reason)
        check_origin(origin)
        return origin

    def overridden(self, flags: Mapping[str, object]) -> dict[str, object]:
        """Return the flags of a command that runs this app, completed by what the program says.

        From here on the app's own submits go where the command works, so that handlers find the database they run on.
        """
        given = {name: value for name, value in flags.items() if value is not None}
        self._flags.update((name, given[name]) for name in self._flags if name in given)
        return {**self._flags, **given}

    async def close(self) -> None:
        """Close the connections of the running event loop and of synchronous code; the next use opens new ones."""
        await self._connections.close()

    def close_sync(self) -> None:
        """Close the connections of synchronous code."""
        self._connections.close_threads()

    async def __aenter__(self) -> Self:
        """Connect, so that an unreachable database is found out now; raises Unavailable."""
        await (await self._connected()).database().open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    async def _connected(self) -> "Container":
        return await self._connections.on_loop()


def _executor(name: str, function: object, wanted: ExecutorName | None) -> ExecutorName:
    coroutine = inspect.iscoroutinefunction(function)
    if wanted is None:
        return "async" if coroutine else "thread"
    if wanted not in get_args(ExecutorName):
        raise InvalidInput("executor", f"must be one of {', '.join(get_args(ExecutorName))}")
    if (wanted == "async") is not coroutine:
        raise InvalidInput("executor", f"{name} must be a coroutine function exactly for the async executor")
    return wanted
