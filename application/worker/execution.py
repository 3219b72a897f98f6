"""Execution: from a claimed job to a running handler."""

from collections.abc import Mapping

from ..handlers import Handler, Handlers
from ..ports.executor import Executor
from ..ports.job_store import ClaimedJob
from ..ports.local_time import LocalTime
from .attempt import Attempt, Services
from .endings import Endings
from .heartbeats import Heartbeats
from .ledger import Ledger
from .watch import Watch


class Execution:
    """Starts handlers; ``stopping`` hands back whatever still arrives."""

    def __init__(
        self,
        handlers: Handlers,
        executors: Mapping[str, Executor],
        services: Services,
        ledger: Ledger,
        endings: Endings,
        heartbeats: Heartbeats,
        watch: Watch,
    ) -> None:
        """Take the collaborators."""
        self._handlers, self._executors, self._services = handlers, executors, services
        self._ledger, self._endings, self._heartbeats, self._watch = ledger, endings, heartbeats, watch
        self._time: LocalTime = services.time
        self.stopping = False

    def start(self, job: ClaimedJob, queue: str, sent: float) -> None:
        """Run a job claimed from ``queue`` by a call sent at ``sent``, or hand it back when it is too late for that."""
        lease = job.lease.total_seconds()
        handler = self._handlers.get(job.type) or _missing(job)
        attempt = Attempt(job, handler, self._services, lease, sent + lease, queue)
        self._ledger.hold(attempt)
        self._heartbeats.expect(lease)
        if self.stopping or self._time.monotonic() >= attempt.lease_end:
            self._endings.release(attempt)
            return
        self._ledger.occupy(attempt)
        self._watch.expect(attempt.lease_end)
        try:
            attempt.running = self._executors[handler.executor].start(attempt)
        except Exception as error:  # noqa: BLE001  for instance no more threads: the others must not suffer
            self._endings.ended(attempt, None, error)


def _missing(job: ClaimedJob) -> Handler:
    """Return a handler that fails: claims name the types that can be run, so this job is not ours to understand."""

    async def call(_context: object) -> None:
        raise LookupError(f"this worker has no handler for type {job.type!r}")

    return Handler(type=job.type, queue=job.queue, call=call, bind=lambda payload: {})
