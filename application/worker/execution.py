"""Execution: from a claimed job to a running handler."""

from collections.abc import Mapping, Sequence

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
    """Starts handlers as slots allow; ``stopping`` hands back whatever still arrives."""

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
        self._ledger, self._prefetch, self._endings = ledger, ledger.prefetch, endings
        self._heartbeats, self._watch = heartbeats, watch
        self._time: LocalTime = services.time
        self.stopping = False

    def start_all(self, jobs: Sequence[ClaimedJob], queue: str, sent: float) -> None:
        """Run what one claim brought, in its order."""
        if not jobs:
            return
        now = self._time.monotonic()
        self._prefetch.line(queue).claimed(jobs, now - sent)
        for job in jobs:
            self._take(job, queue, sent, now)

    def start(self, job: ClaimedJob, queue: str, sent: float) -> None:
        """Run a job claimed from ``queue`` by a call sent at ``sent``: now, or as soon as it gets a slot.

        It is handed back when it is too late for that.
        """
        self._take(job, queue, sent, self._time.monotonic())

    def _take(self, job: ClaimedJob, queue: str, sent: float, now: float) -> None:
        lease = job.lease.total_seconds()
        handler = self._handlers.get(job.type) or _missing(job)
        attempt = Attempt(job, handler, self._services, lease, sent + lease, queue, sent)
        self._ledger.hold(attempt)
        self._heartbeats.expect(lease)
        if self.stopping or now >= attempt.lease_end:
            self._endings.release(attempt)
        elif self._ledger.free(queue) > 0:
            self._run(attempt)
        else:
            self._prefetch.line(queue).wait(attempt)

    def vacated(self, ended: Attempt) -> None:
        """Give the slot of an attempt that has ended to the job that waits for one, or to the first that can begin."""
        line = self._prefetch.line(ended.slots)
        line.ended(ended, self._time)
        while line.waiting and self._ledger.free(ended.slots) > 0:
            self._run(line.waiting.popleft())

    def hand_back_stale(self) -> None:
        """Hand back what has waited for a slot for too long: another worker may have one."""
        for attempt in self._prefetch.stale(self._time.monotonic()):
            self._endings.release(attempt)

    @property
    def stale_in(self) -> float:
        """Seconds until something has waited for too long."""
        return self._prefetch.stale_at - self._time.monotonic()

    def hand_back(self, queue: str | None = None) -> None:
        """Hand back all that waits for a slot of a queue, or of any."""
        for attempt in self._prefetch.clear(queue):
            self._endings.release(attempt)

    def _run(self, attempt: Attempt) -> None:
        self._ledger.occupy(attempt)
        self._watch.expect(attempt.lease_end)
        try:
            attempt.running = self._executors[attempt.handler.executor].start(attempt)
        except Exception as error:  # noqa: BLE001  for instance no more threads: the others must not suffer
            self._endings.ended(attempt, None, error)
        else:
            self._prefetch.line(attempt.slots).begun(attempt, self._time)


def _missing(job: ClaimedJob) -> Handler:
    """Return a handler that fails: claims name the types that can be run, so this job is not ours to understand."""

    async def call(_context: object) -> None:
        raise LookupError(f"this worker has no handler for type {job.type!r}")

    return Handler(type=job.type, queue=job.queue, call=call, bind=lambda payload: {})
