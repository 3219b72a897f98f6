"""Submitting inside the caller's transaction: the jobs commit or vanish with everything else in it.

Isolation: under REPEATABLE READ or SERIALIZABLE a submit key or unique options that somebody else used since the
transaction's snapshot cannot be answered; PostgreSQL raises a serialization failure, as for any other conflict there,
and the caller repeats the transaction. What the driver raises is passed on as it is: it is the caller's connection.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Text, bindparam, text

from ...application.ports.submitter import Submission, Submitted
from ...domain.errors import FencepostError, KeyInProgress
from .callers_connections import async_execute, sync_execute
from .query import Plan, Statement, run_plan, run_plan_async
from .submit_plan import submit_plan, waits
from .tables import tables
from .waking import waking, woken_queues

_LOCK_NOT_AVAILABLE = "55P03"
# A conflict must leave the caller's transaction usable, without what the batch had written before.
_SAVE = Statement(text("SAVEPOINT fencepost_submit"), writes=False)
_UNDO = Statement(text("ROLLBACK TO SAVEPOINT fencepost_submit"), writes=False)
_FORGET = Statement(text("RELEASE SAVEPOINT fencepost_submit"), writes=False)
_PATIENCE = Statement(text("SELECT current_setting('lock_timeout')"), writes=False)
_RESTORE = Statement(
    text("SELECT set_config('lock_timeout', :before, true)").bindparams(bindparam("before", type_=Text)),
    writes=False,
)


class PostgresCallersTransactions:
    """Implements the port ``CallersTransactions``; never commits, never rolls back more than its own writes."""

    def __init__(
        self, schema: str = "fencepost", *, clock: Callable[[], datetime] | None = None, wakes: bool = True
    ) -> None:
        """Submit to the jobs of this schema, in whatever database the caller's transaction is.

        ``wakes`` False leaves it to the workers' polls to find new jobs.
        """
        self._tables, self._wakes = tables(schema), wakes
        self._clock = clock

    async def submit_in(self, tx: object, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Insert jobs through ``tx``; a synchronous one blocks the event loop meanwhile."""
        execute = await async_execute(tx)
        if execute is None:
            return self.submit_in_sync(tx, submissions)
        try:
            return await run_plan_async(self._plan(submissions), execute)
        except Exception as error:
            if _gave_up_waiting(error, submissions):
                await execute(_UNDO())
                raise _in_progress() from error
            raise

    def submit_in_sync(self, tx: object, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Insert jobs through a synchronous ``tx``."""
        execute = sync_execute(tx)
        try:
            return run_plan(self._plan(submissions), execute)
        except Exception as error:
            if _gave_up_waiting(error, submissions):
                execute(_UNDO())
                raise _in_progress() from error
            raise

    def _plan(self, submissions: Sequence[Submission]) -> Plan[list[Submitted]]:
        """Submit, and tell everybody: from inside the transaction nobody knows who will be idle when it commits."""
        submit = submit_plan(self._tables, submissions, self._clock() if self._clock else None)
        answers = yield from (_kept_apart(submit) if waits(submissions) else submit)
        if self._wakes and (queues := woken_queues(submissions, answers)):
            yield waking(str(self._tables.jobs.schema)).to_all(queues=queues)
        return answers


def _kept_apart(submit: Plan[list[Submitted]]) -> Plan[list[Submitted]]:
    """Run a submit behind a savepoint, and leave the caller's patience as it was."""
    yield _SAVE()
    [(before,)] = yield _PATIENCE()
    try:
        answers = yield from submit
    except FencepostError:
        yield _UNDO()
        yield _FORGET()
        raise
    yield _RESTORE(before=before)
    yield _FORGET()
    return answers


def _gave_up_waiting(error: Exception, submissions: Sequence[Submission]) -> bool:
    """Whether a lock was not granted in time, in whatever wrapping the driver or the ORM reports it."""
    wrapped = (error, getattr(error, "orig", None), error.__cause__)
    states = {getattr(e, "sqlstate", None) or getattr(e, "pgcode", None) for e in wrapped}
    return waits(submissions) and _LOCK_NOT_AVAILABLE in states


def _in_progress() -> KeyInProgress:
    return KeyInProgress("the first request with this key has not ended")
