"""Every interleaving of two workers over two jobs, breadth first, through the adapter in memory, batches included.

A state is a whole database. Two databases are one state when their jobs differ in nothing that can still matter and
the same workers were granted and ended the same attempts.
"""

from collections import deque
from collections.abc import Coroutine, Iterator
from datetime import datetime
from itertools import product
from typing import Any

from attrs import define, field, frozen
from attrs import evolve as changed

from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain import commands as c
from fencepost.domain.effects import ENDINGS
from fencepost.domain.event import JobEvent
from fencepost.domain.job import Job
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import CommandName, EventName
from support.exploration import NOW, OPERATOR, TICK, birth, what_matters
from support.reports import ERROR

QUEUE = "default"


@frozen(eq=False)
class Snapshot:
    """One database at one time."""

    now: datetime
    database: MemoryDatabase

    @staticmethod
    def first(jobs: int, max_attempts: int) -> "Snapshot":
        """The jobs just submitted."""
        database = MemoryDatabase(lambda: NOW)
        database.queues[QUEUE] = None
        for job_id in range(1, jobs + 1):
            database.append(changed(birth(max_attempts), job_id=job_id))
        return Snapshot(NOW, database)

    def later(self) -> "Snapshot":
        """The same database one tick later."""
        return Snapshot(self.now + TICK, self.database)

    def fork(self) -> "Snapshot":
        """A copy that can go its own way."""
        database = MemoryDatabase(lambda: self.now)
        database.jobs = dict(self.database.jobs)
        database.job_events = {job_id: list(events) for job_id, events in self.database.job_events.items()}
        database.control_events = list(self.database.control_events)
        database.log = list(self.database.log)
        database.queues = dict(self.database.queues)
        return Snapshot(self.now, database)

    def key(self) -> tuple[object, ...]:
        """What tells this state from others; workers and claims go by order of appearance, their names mean nothing."""
        passed, workers = self.now - NOW, dict[str, int]()
        return tuple(
            (
                _backdated(job, passed),
                tuple(
                    (workers.setdefault(worker, len(workers)), ended_by)
                    for _, worker, _, ended_by in _books(self.database.job_events[job_id])
                ),
            )
            for job_id, job in self.database.jobs.items()
        )

    def granted(self) -> Iterator[tuple[Token, str, CommandName | None]]:
        """Yield each token ever granted, to which worker, and the command that ended its attempt."""
        for job_id, events in self.database.job_events.items():
            for attempt, worker, claim_id, ended_by in _books(events):
                yield Token(job_id, attempt, claim_id), worker, ended_by


def _backdated(job: Job, passed: Any) -> Job:
    moments = ("run_at", "lease_expires_at", "cancel_requested_at")
    earlier: dict[str, Any] = {
        name: value and value - passed for name in moments for value in [getattr(job, name)]
    }
    names: dict[str, Any] = {name: getattr(job, name) and "somebody" for name in ("worker", "claim_id")}
    return what_matters(changed(job, **earlier, **names))


def _books(events: list[JobEvent]) -> tuple[tuple[int, str, str, CommandName | None], ...]:
    """Read from history who was granted which attempt, and which command ended it."""
    books: list[tuple[int, str, str, CommandName | None]] = []
    for event in events:
        if event.name is EventName.CLAIMED:
            books.append((event.attempt, event.actor, event.claim_id or "", None))
        elif event.name in ENDINGS and event.claim_id is not None:
            books[-1] = (*books[-1][:3], event.caused_by)
    return tuple(books)


@frozen(eq=False)
class Step:
    """One call in one state; ``new`` tells whether what came of it had been seen before."""

    before: Snapshot
    call: Any
    answer: Any
    after: Snapshot
    new: bool


@define
class Explorer:
    """Makes every call in every reachable state; ``steps`` counts them."""

    workers: int
    jobs: int
    attempts: int
    max_attempts: int = 2
    steps: int = 0
    _seen: set[tuple[object, ...]] = field(factory=set)

    def explore(self) -> Iterator["Step"]:
        """Yield every call in every state."""
        start = Snapshot.first(self.jobs, self.max_attempts)
        waiting = deque([start])
        self._seen.add(start.key())
        while waiting:
            before = waiting.popleft()
            for call, answer, after in self._following(before):
                self.steps += 1
                new = (key := after.key()) not in self._seen
                if new:
                    self._seen.add(key)
                    waiting.append(after)
                yield Step(before, call, answer, after, new)

    @property
    def states(self) -> int:
        """How many states were visited."""
        return len(self._seen)

    def _following(self, before: Snapshot) -> Iterator[tuple[Any, Any, Snapshot]]:
        yield "tick", None, before.later()
        for call in self._calls(before):
            after = before.fork()
            answer = _finished(_made(MemoryJobStore(after.database), call))
            yield call, answer, after

    def _calls(self, before: Snapshot) -> Iterator[Any]:
        tokens = [token for token, *_ in before.granted()]
        yield from self._claims(before)
        for token, worker, ended_by in before.granted():
            yield from ([report] for report in _reports(token, worker, ended_by))
        latest = {token.job_id: token for token in tokens}
        if len(latest) == self.jobs > 1:
            one, *_, two = latest.values()
            yield [c.Succeed(origin=_ANY, token=one), c.Fail(origin=_ANY, token=two, error=ERROR)]
        if tokens:
            yield tuple(tokens)
        yield 1
        yield self.jobs
        yield from ((job_id,) for job_id in before.database.jobs)

    def _claims(self, before: Snapshot) -> Iterator[ClaimRequest]:
        """Nobody claims once a job that could be claimed has had all its attempts."""
        if any(job.attempt >= self.attempts and not job.terminal for job in before.database.jobs.values()):
            return
        known = {worker for _, worker, _ in before.granted()}
        for worker, limit in product(range(min(self.workers, len(known) + 1)), range(1, self.jobs + 1)):
            claim_id = f"claim-{sum(1 for _ in before.granted())}"
            yield ClaimRequest(
                queue=QUEUE,
                types=frozenset({"t"}),
                limit=limit,
                claim_id=claim_id,
                origin=c.Origin(f"worker:{worker}"),
            )


_ANY = c.Origin("worker:any")


def _reports(token: Token, worker: str, ended_by: CommandName | None) -> list[c.Report]:
    """All reports of a holder; of a zombie success, and what ended its attempt once more."""
    origin = c.Origin(worker)
    reports = [
        c.Succeed(origin=origin, token=token),
        c.Fail(origin=origin, token=token, error=ERROR),
        c.Release(origin=origin, token=token),
        c.ConfirmCancel(origin=origin, token=token),
    ]
    return [report for report in reports if ended_by in {None, report.name} or report is reports[0]]


async def _made(store: MemoryJobStore, call: Any) -> Any:
    """Make a call: a claim, a batch of reports, heartbeats for all tokens, a reap, or a cancel."""
    match call:
        case ClaimRequest():
            return await store.claim(call)
        case list():
            return await store.report(call)
        case int():
            return await store.reap(call, [0.0] * call)
        case (Token(), *_):
            return await store.heartbeat(call)
        case _:
            return await store.operate(call, c.Cancel(origin=OPERATOR))


def _finished(call: Coroutine[Any, Any, Any]) -> Any:
    """Run what never waits."""
    try:
        call.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the adapter in memory waits for nothing")
