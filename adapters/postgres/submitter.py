"""Accepting jobs on connections of our own; ``callers_transactions`` does it inside a transaction of the caller's."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from psycopg.errors import LockNotAvailable

from ...application.ports.submitter import Submission, Submitted
from ...domain.errors import KeyInProgress, Unavailable
from .database import Database
from .query import Plan, run_plan, run_plan_async
from .rousing import HINT_ERRORS, Rouser
from .submit_plan import is_large, submit_plan, waits
from .sync_database import SyncDatabase
from .waking import waking, woken_queues


class PostgresSubmitter:
    """Implements the port ``Submitter``; ``wakes`` False leaves it to the workers' polls to find new jobs."""

    def __init__(self, database: Database, *, wakes: bool = True) -> None:
        """Work on this database."""
        self._database, self._wakes = database, wakes
        self._rouser = Rouser(database)

    async def submit(self, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Insert all or nothing, then wake idle workers."""
        if not self._wakes:
            return await self._answers(submissions)
        try:
            answers = await self._counted(submissions)
        except Exception:
            await self._rouser.rouse()  # others may have left it to this one
            raise
        await self._rouser.rouse(woken_queues(submissions, answers))
        return answers

    async def _counted(self, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        if _takes_longer(submissions):
            return await self._answers(submissions)
        with self._rouser.submitting():
            return await self._answers(submissions)

    async def _answers(self, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        database = self._database

        def plan() -> Plan[list[Submitted]]:
            return submit_plan(database.tables, submissions, database.moment(), copies=True)

        with _waiting(submissions):
            if _takes_longer(submissions):
                return await database.run(plan)
            return await run_plan_async(plan(), database.execute)  # one statement: one round trip


class SyncPostgresSubmitter:
    """Implements the port ``SyncSubmitter``; ``wakes`` as there."""

    def __init__(
        self, dsn: str, schema: str = "fencepost", *, pooled: bool = False, wakes: bool = True
    ) -> None:
        """Connect to nothing yet."""
        self._database, self._wakes = SyncDatabase(dsn, schema, pooled=pooled), wakes

    def submit(self, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Insert all or nothing, then wake idle workers."""
        answers = self._answers(submissions)
        if self._wakes and (queues := woken_queues(submissions, answers)):
            with suppress(*HINT_ERRORS):
                self._database.execute(waking(self._database.schema).to_idle(queues=queues))
        return answers

    def _answers(self, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        database = self._database

        def plan() -> Plan[list[Submitted]]:
            return submit_plan(database.tables, submissions, database.moment(), copies=True)

        with _waiting(submissions):
            if _takes_longer(submissions):
                return database.run(plan)
            return run_plan(plan(), database.execute)

    def close(self) -> None:
        """Close the idle connections."""
        self._database.close()


def _takes_longer(submissions: Sequence[Submission]) -> bool:
    """Whether one statement will not do."""
    return waits(submissions) or is_large(submissions)


@contextmanager
def _waiting(submissions: Sequence[Submission]) -> Iterator[None]:
    """Say it when a lock was not granted: another request with the key has not ended."""
    try:
        yield
    except Unavailable as error:
        if waits(submissions) and isinstance(error.__cause__, LockNotAvailable):
            raise KeyInProgress("the first request with this key has not ended") from error
        raise
