"""Every situation a job can be in that a command may care about, as the way that leads there."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from itertools import product

from attrs import evolve, frozen

from fencepost.domain import commands as c
from fencepost.domain.job import Specification
from fencepost.domain.limits import IDLE_RETURNS
from fencepost.domain.retry import Constant, Delays, Exponential, RetryPolicy
from support.crowd import OPERATOR, WORKER, Crowd
from support.reports import ERROR

Step = Callable[[Crowd], Awaitable[None]]
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
SPEC = Specification(type="t", payload='{"n":1}')
LEASE = SPEC.lease
POLICIES: tuple[RetryPolicy, ...] = (
    Exponential(),
    Exponential(timedelta(milliseconds=1), timedelta(days=36_000)),
    Constant(timedelta(seconds=7, microseconds=1)),
    Delays((timedelta(0), timedelta(minutes=5))),
)


@frozen
class Situation:
    """A name, what the jobs were submitted with, and what has happened to them since."""

    name: str
    steps: tuple[Step, ...]
    specification: Specification = SPEC
    delay: timedelta | None = None

    async def enter(self, crowd: Crowd, size: int) -> None:
        """Lead ``size`` jobs there."""
        await crowd.submit(size, self.specification, self.delay)
        for step in self.steps:
            await step(crowd)


async def claim(crowd: Crowd) -> None:
    """Wait out any backoff and take the leases."""
    crowd.lockstep.clock.advance(timedelta(hours=1))
    await crowd.claim()


async def fail(crowd: Crowd) -> None:
    """The handler raises."""
    await crowd.report(lambda token: c.Fail(origin=WORKER, token=token, error=ERROR, draw=0.25))


async def die(crowd: Crowd) -> None:
    """The handler gives up."""
    await crowd.report(lambda token: c.Discard(origin=WORKER, token=token, error=ERROR))


async def snooze(crowd: Crowd) -> None:
    """The handler asks for another 90 seconds."""
    await crowd.report(lambda token: c.Snooze(origin=WORKER, token=token, delay=90 * SECOND))


async def release(crowd: Crowd) -> None:
    """The worker hands them back."""
    await crowd.report(lambda token: c.Release(origin=WORKER, token=token))


async def succeed(crowd: Crowd) -> None:
    """The handler returns a value."""
    await crowd.report(lambda token: c.Succeed(origin=WORKER, token=token, result='{"r":"ü"}'))


async def confirm(crowd: Crowd) -> None:
    """The handler stops as asked."""
    await crowd.report(lambda token: c.ConfirmCancel(origin=WORKER, token=token))


async def heartbeat(crowd: Crowd) -> None:
    """The worker renews, a while after the claim."""
    crowd.lockstep.clock.advance(LEASE / 3)
    tokens = [crowd.latest(job_id) for job_id in crowd.job_ids]
    await crowd.lockstep.both(lambda stores: stores.jobs.heartbeat(tokens))


def idle(returns: int) -> Step:
    """As if handed back this often in a row."""

    async def alter(crowd: Crowd) -> None:
        await crowd.lockstep.both(lambda stores: stores.alter(crowd.job_ids, {"idle_returns": returns}))

    return alter


def operate(operation: c.Operation) -> Step:
    """An operator acts."""
    return lambda crowd: crowd.operate(operation)


def wait(passed: timedelta) -> Step:
    """Time passes."""

    async def advance(crowd: Crowd) -> None:
        crowd.lockstep.clock.advance(passed)

    return advance


async def expire(crowd: Crowd) -> None:
    """The reaper ends the leases."""
    await crowd.expire()


CANCEL = operate(c.Cancel(origin=OPERATOR))
REVOKE = operate(c.Revoke(origin=OPERATOR))
REQUEUE = operate(c.Requeue(origin=OPERATOR, fresh_effect_key=False))

PASTS: dict[str, tuple[int, tuple[Step, ...]]] = {
    "fresh": (0, ()),
    "failed once": (1, (claim, fail)),
    "failed twice": (2, (claim, fail, claim, fail)),
    "expired once": (1, (claim, expire)),
    "expired twice": (2, (claim, expire, claim, expire)),
    "failed after expiry": (2, (claim, expire, claim, fail)),
    "snoozed": (0, (claim, snooze)),
    "released after failure": (1, (claim, fail, claim, release)),
    "one idle return below the cap": (0, (idle(IDLE_RETURNS - 1),)),
    "at the cap": (0, (idle(IDLE_RETURNS),)),
    "at the cap after a failure": (1, (claim, fail, idle(IDLE_RETURNS))),
    "requeued": (0, (claim, die, REQUEUE)),
    "revoked": (0, (claim, REVOKE)),
}
"""What may lie behind a pending job, and how many failures that cost."""

LAPSES: dict[str, tuple[Step, ...]] = {
    "": (),
    ", on the deadline": (wait(LEASE),),
    ", lapsed": (wait(LEASE + MICROSECOND),),
    ", renewed": (heartbeat,),
}
"""What may have happened to an open lease."""


SIMPLE_PASTS = {"fresh", "expired once"}
SIMPLE_LAPSES = {"", ", lapsed"}


def _running(*, thorough: bool) -> Iterator[Situation]:
    for (past, (failures, steps)), left, asked, (lapse, waiting) in product(
        PASTS.items(), (1, 2), (False, True), LAPSES.items()
    ):
        if not thorough and past not in SIMPLE_PASTS and lapse not in SIMPLE_LAPSES:
            continue
        name = f"running, {past}, {left} left{', cancel requested' if asked else ''}{lapse}"
        asking = (CANCEL,) if asked else ()
        yield _budgeted(Situation(name, (*steps, claim, *asking, *waiting)), failures + left)


def _pending() -> Iterator[Situation]:
    yield Situation("pending, due on the dot", (wait(5 * SECOND),), delay=5 * SECOND)
    yield Situation("pending, not due by a microsecond", (wait(5 * SECOND - MICROSECOND),), delay=5 * SECOND)
    yield Situation("pending, edited", (operate(c.Edit(origin=OPERATOR, priority=2, payload="{}")),))
    for past, (failures, steps) in PASTS.items():
        yield _budgeted(Situation(f"pending, {past}", steps), failures + 2)
        yield _budgeted(
            Situation(f"pending, {past}, a while ago", (*steps, wait(timedelta(hours=1)))), failures + 1
        )


def _terminal() -> Iterator[Situation]:
    dismiss = operate(c.Dismiss(origin=OPERATOR))
    yield Situation("succeeded", (claim, succeed))
    yield Situation("succeeded after a cancel request", (claim, CANCEL, succeed))
    yield Situation("succeeded a second time", (claim, succeed, REQUEUE, claim, succeed))
    yield _budgeted(Situation("dead, spent", (claim, fail, claim, fail)), 2)
    yield _budgeted(Situation("dead, expired", (claim, expire)), 1)
    yield Situation("dead, discarded", (claim, fail, claim, die))
    yield Situation("dead, dismissed", (claim, die, dismiss))
    yield Situation("cancelled while pending", (CANCEL,))
    yield Situation("cancelled by the handler", (claim, CANCEL, confirm))
    yield _budgeted(Situation("cancelled, spent", (claim, CANCEL, fail)), 1)
    yield Situation("cancelled by release", (claim, CANCEL, release))
    yield Situation("cancelled by the reaper", (claim, CANCEL, expire))
    yield Situation("cancelled by force", (claim, operate(c.Revoke(origin=OPERATOR, cancel=True))))


def _budgeted(situation: Situation, max_attempts: int) -> Situation:
    """Give a situation its budget and, in turn, one of the policies."""
    policy = POLICIES[sum(map(ord, situation.name)) % len(POLICIES)]
    lease = 4 * LEASE if "renewed" in situation.name else LEASE
    specification = evolve(situation.specification, max_attempts=max_attempts, retry=policy, lease=lease)
    return evolve(situation, specification=specification)


def every_situation(*, thorough: bool) -> list[Situation]:
    """All of them; ``thorough`` crosses every past of a running job with all that may happen to its lease."""
    return [*_pending(), *_running(thorough=thorough), *_terminal()]


def lived(situation: Situation) -> bool:
    """Whether events tell the whole way there: not for the cap on idle returns, which would take 1,000 claims."""
    return "the cap" not in situation.name
