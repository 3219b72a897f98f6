"""Queues: pause and resume.

A claim locks its queue's row (FOR KEY SHARE, until it commits) and looks at ``paused_at``. Setting ``paused_at``
changes no key, so no stream of claims can hold it up; later claims see it and lock nothing. Counting the pause then
changes a key: it waits until every claim that had not seen the pause is over. And a claim whose snapshot is older
still, but which locks the row only now, is made to look at its newest version: with a mere lock in place of the change
it would be granted the old one, and claim from a paused queue.
"""

from collections.abc import Iterable, Sequence

from psycopg.errors import LockNotAvailable

from ...application.ports.queue_store import Queue
from ...domain.commands import Origin
from ...domain.errors import Unavailable, UnknownOutcome
from ...domain.vocabulary import ControlEventName, Verdict
from .database import Database
from .query import Plan
from .queue_statements import queue_statements
from .rousing import rouse

PATIENCE = 6
"""Waits for earlier claims, each as long as the connection's lock timeout: longer than a stopped client may live."""


class PostgresQueueStore:
    """Implements the port ``QueueStore``."""

    def __init__(self, database: Database) -> None:
        """Work on this database."""
        self._database = database
        self._statements = queue_statements(database.schema)

    async def register(self, names: Iterable[str]) -> None:
        """Make queues known."""
        await self._database.execute(self._statements.register(names=sorted(set(names))))

    async def pause(self, name: str, origin: Origin) -> Verdict:
        """Pause a queue; also completes a pause whose caller went away before earlier claims were over.

        Raises UnknownOutcome when it is paused but an earlier claim does not end.
        """
        verdict = await self._database.run(lambda: self._pausing(name, origin))
        if verdict is Verdict.ACCEPTED:
            await rouse(
                self._database, [name]
            )  # those who hold jobs of the queue without a slot: to hand them back
        for _ in range(PATIENCE):
            try:
                await self._database.run(lambda: self._paused(name, origin))
            except Unavailable as error:
                if not isinstance(error.__cause__, LockNotAvailable):
                    raise UnknownOutcome(f"queue {name} is being paused: {error}") from error
            else:
                return verdict
        raise UnknownOutcome(f"queue {name} is paused, but an earlier claim has not ended")

    async def resume(self, name: str, origin: Origin) -> Verdict:
        """Resume a queue and wake its idle workers."""
        verdict = await self._database.run(lambda: self._resumed(name, origin))
        if verdict is Verdict.ACCEPTED:
            await rouse(self._database, [name])
        return verdict

    async def list(self) -> Sequence[Queue]:
        """Return all queues by name: the registered ones and those of unfinished jobs."""
        rows = await self._database.execute(self._statements.list(now=self._database.moment()))
        return [
            Queue(name=name, paused_at=paused_at, pending=pending, due=due, running=running)
            for name, paused_at, pending, due, running in rows
        ]

    def _pausing(self, name: str, origin: Origin) -> Plan[Verdict]:
        yield self._statements.register(names=[name])
        [(paused_at,)] = yield self._statements.lock(name=name)
        if paused_at is not None:
            return Verdict.ALREADY_APPLIED
        yield self._statements.pause(name=name, **self._event(ControlEventName.QUEUE_PAUSING, origin))
        return Verdict.ACCEPTED

    def _paused(self, name: str, origin: Origin) -> Plan[None]:
        yield self._statements.outlast_claims(name=name)
        newest = yield self._statements.newest(name=name)
        if [tuple(row) for row in newest] == [(ControlEventName.QUEUE_PAUSING.value,)]:
            yield self._statements.note(name=name, **self._event(ControlEventName.QUEUE_PAUSED, origin))

    def _resumed(self, name: str, origin: Origin) -> Plan[Verdict]:
        locked = yield self._statements.lock(name=name)
        if not any(paused_at for (paused_at,) in locked):
            return Verdict.ALREADY_APPLIED
        yield self._statements.resume(name=name, **self._event(ControlEventName.QUEUE_RESUMED, origin))
        return Verdict.ACCEPTED

    def _event(self, event: ControlEventName, origin: Origin) -> dict[str, object]:
        return {
            "event": event.value,
            "actor": origin.actor,
            "request_id": origin.request_id,
            "reason": origin.reason,
            "now": self._database.moment(),
        }
