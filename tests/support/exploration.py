"""Every interleaving of a few workers over one job, breadth first, over the domain alone.

Time is relative: the clock stands still and a tick moves the job's times back, so that states which differ only in
when they happened are one. Decisions are remembered per job and command, which is sound because ``decide`` is pure
and only differences between moments matter (both are properties tested elsewhere).
"""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from attrs import define, field, frozen
from attrs import evolve as changed

from fencepost.domain import commands as c
from fencepost.domain.decide import Refusal, decide, enqueue, renew
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import evolve, fold
from fencepost.domain.job import Job, Specification
from fencepost.domain.limits import CANCEL_GRACE
from fencepost.domain.retry import Constant
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import CommandName, EventName, State, Verdict
from support.reports import one_of_each

NOW = datetime(2030, 1, 1, tzinfo=UTC)
TICK = timedelta(seconds=20)
LONG_AGO = NOW - 2 * TICK  # longer than CANCEL_GRACE: further back nothing changes any more
OPERATOR = c.Origin("user:ann", request_id="r")
OPERATIONS: tuple[c.Command, ...] = (
    c.Expire(origin=c.Origin("reaper")),
    c.Cancel(origin=OPERATOR),
    c.Revoke(origin=OPERATOR),
    c.Revoke(origin=OPERATOR, cancel=True),
    c.Requeue(origin=OPERATOR, fresh_effect_key=False),
    c.Edit(origin=OPERATOR, run_at=NOW + TICK),
    c.Dismiss(origin=OPERATOR),
)


@frozen
class Scene:
    """One state: the job as it is, which worker was granted each attempt, and which command ended it."""

    job: int
    granted: tuple[int, ...] = ()
    ended_by: tuple[CommandName | None, ...] = ()

    @property
    def open_attempt(self) -> int | None:
        """The attempt whose lease is open, by this model's own book-keeping."""
        return len(self.granted) if self.granted and self.ended_by[-1] is None else None


@frozen
class Step:
    """What one command did, or what it was answered."""

    verdict: Verdict
    after: int
    event: EventName | None = None


@define
class Explorer:
    """Visits every reachable scene once and hands each step to ``check``."""

    workers: int
    attempts: int
    max_attempts: int = 2
    jobs: list[Job] = field(factory=list)
    steps: int = 0
    origins: dict[int, tuple[int, c.Command | Token | None]] = field(factory=dict)
    """How each job was first reached: from which job, by a command, a heartbeat's token, or None for a tick."""
    _numbers: dict[Job, int] = field(factory=dict)
    _known: dict[tuple[int, c.Command], Step] = field(factory=dict)
    _ticked: dict[int, int] = field(factory=dict)

    def explore(self) -> Iterator[tuple[Scene, c.Command | None, Step | None]]:
        """Yield (scene, command, step) for all commands of all scenes; command and step None for a new scene."""
        start = Scene(self._number(first_job(self.max_attempts), (0, None)))
        seen, waiting = {start}, deque([start])
        while waiting:
            scene = waiting.popleft()
            yield scene, None, None
            for command, step, after in self._following(scene):
                self.steps += 1
                if command is not None:
                    yield scene, command, step
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)

    def _following(self, scene: Scene) -> Iterator[tuple[c.Command | None, Step | None, Scene]]:
        yield None, None, changed(scene, job=self._tick(scene.job))
        for renewed in self._heartbeats(scene):
            yield None, None, changed(scene, job=renewed)
        for command in self._commands(scene):
            step = self._step(scene.job, command)
            yield command, step, _after(scene, command, step)

    def _commands(self, scene: Scene) -> Iterator[c.Command]:
        if len(scene.granted) < self.attempts:
            # Workers are interchangeable: the first who ever claims is number 0, the next new one number 1 …
            for worker in range(min(self.workers, max(scene.granted, default=-1) + 2)):
                yield c.Claim(origin=_origin(worker), claim_id=_claim_id(len(scene.granted) + 1))
        for attempt, worker in enumerate(scene.granted, 1):
            yield from one_of_each(_token(attempt), _origin(worker), delay=TICK)
        if scene.granted:
            forged = Token(1, len(scene.granted), "forged")
            yield c.Succeed(origin=_origin(scene.granted[-1]), token=forged)
        yield from OPERATIONS

    def _step(self, number: int, command: c.Command) -> Step:
        key = number, command
        if key not in self._known:
            self._known[key] = self._decide(number, command)
        return self._known[key]

    def _decide(self, number: int, command: c.Command) -> Step:
        job = self.jobs[number]
        decision = decide(job, command, NOW)
        if isinstance(decision, Refusal):
            return Step(decision.verdict, number)
        after = evolve(job, decision)
        assert decision.seq == job.seq + 1
        return Step(Verdict.ACCEPTED, self._number(after, (number, command)), decision.name)

    def _heartbeats(self, scene: Scene) -> Iterator[int]:
        """Yield what a heartbeat of each attempt makes of the job; only the open attempt's may change it."""
        job = self.jobs[scene.job]
        for attempt in range(1, len(scene.granted) + 1):
            renewed = renew(job, _token(attempt), NOW, CANCEL_GRACE)
            assert (renewed is not None) is (attempt == scene.open_attempt)
            if renewed is not None:
                assert job.lease_expires_at is not None
                assert renewed.lease_expires_at is not None
                assert renewed.lease_expires_at >= job.lease_expires_at
                yield self._number(renewed, (scene.job, _token(attempt)))

    def _tick(self, number: int) -> int:
        if number not in self._ticked:
            job = self.jobs[number]
            self._ticked[number] = self._number(
                changed(
                    job,
                    run_at=job.run_at - TICK,
                    lease_expires_at=job.lease_expires_at and job.lease_expires_at - TICK,
                    cancel_requested_at=job.cancel_requested_at and job.cancel_requested_at - TICK,
                ),
                (number, None),
            )
        return self._ticked[number]

    def _number(self, job: Job, origin: tuple[int, c.Command | Token | None]) -> int:
        kept = what_matters(job)
        if kept not in self._numbers:
            self._numbers[kept] = len(self.jobs)
            self.origins[len(self.jobs)] = origin
            self.jobs.append(kept)
        return self._numbers[kept]

    def path(self, number: int) -> list[c.Command | Token | None]:
        """Return what leads from the first job to this one."""
        steps: list[c.Command | Token | None] = []
        while number:
            number, step = self.origins[number]
            steps.append(step)
        return steps[::-1]


def what_matters(job: Job) -> Job:
    """Return the job without what can no longer change any decision."""
    return changed(
        job,
        seq=1,
        heartbeats=min(job.heartbeats, 1),
        run_at=max(job.run_at, NOW) if job.state is State.PENDING else NOW,
        lease_expires_at=job.lease_expires_at and max(job.lease_expires_at, NOW - TICK),
        cancel_requested_at=job.cancel_requested_at and max(job.cancel_requested_at, LONG_AGO),
    )


def first_job(max_attempts: int) -> Job:
    """Return a job just submitted."""
    job = fold([birth(max_attempts)])
    assert job is not None
    return job


def birth(max_attempts: int) -> JobEvent:
    """Return the event all histories start with."""
    specification = Specification(
        type="t", max_attempts=max_attempts, lease=2 * TICK, retry=Constant(TICK), timeout=None
    )
    return enqueue(c.Submit(origin=OPERATOR, specification=specification), 1, NOW)


def _after(scene: Scene, command: c.Command, step: Step) -> Scene:
    """Keep this model's own books of grants and endings, from verdicts alone."""
    granted, ended_by = scene.granted, scene.ended_by
    if step.verdict is Verdict.ACCEPTED:
        if isinstance(command, c.Claim):
            granted, ended_by = (*granted, _worker(command.origin)), (*ended_by, None)
        elif scene.open_attempt is not None and not isinstance(command, c.Cancel):
            ended_by = (*ended_by[:-1], command.name)
    return Scene(step.after, granted, ended_by)


def _origin(worker: int) -> c.Origin:
    return c.Origin(f"worker:{worker}")


def _worker(origin: c.Origin) -> int:
    return int(origin.actor.removeprefix("worker:"))


def _claim_id(attempt: int) -> str:
    return f"claim-{attempt}"


def _token(attempt: int) -> Token:
    return Token(1, attempt, _claim_id(attempt))
