"""Claims: order, filters, limits, pauses, and when to look again."""

from datetime import timedelta
from uuid import uuid4

from fencepost.application.ports.job_reader import JobFilter
from fencepost.application.ports.job_store import Claimed, ClaimRequest
from fencepost.application.ports.queue_store import Queue
from fencepost.domain import commands as c
from fencepost.domain.vocabulary import ControlEventName, Verdict
from support.asking import claim, claim_one, submit, succeed
from support.crowd import OPERATOR, WORKER
from support.stores import START, Clock, Lockstep, Stores

SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


def _ids(claimed: Claimed) -> list[int]:
    return [job.token.job_id for job in claimed.jobs]


async def test_claims_come_by_priority_then_run_at_then_job_id(stores: Stores, clock: Clock) -> None:
    """B103: Higher priority first, then the earlier due time, then the smaller job_id; a limit takes the first ones."""
    plan = [(5, 2), (5, 1), (9, 3), (0, 0), (5, 1), (9, 3)]
    ids = [(await submit(stores, priority=p, delay=SECOND * delay)).job_id for p, delay in plan]
    clock.advance(10 * SECOND)
    expected = [ids[index] for index in (2, 5, 1, 4, 0, 3)]
    assert _ids(await claim(stores, limit=4)) == expected[:4]
    assert _ids(await claim(stores, limit=4)) == expected[4:]


async def test_a_claim_takes_only_its_queue_and_types(stores: Stores) -> None:
    """B106: Jobs of other queues and of types the worker does not handle stay where they are."""
    wanted = await submit(stores, queue="q", type="a")
    await submit(stores, queue="q", type="b")
    await submit(stores, queue="q2", type="a")
    assert _ids(await claim(stores, queue="q", types=("a", "c"))) == [wanted.job_id]


async def test_a_job_is_due_at_its_run_at_and_not_before(stores: Stores, clock: Clock) -> None:
    """A microsecond early the claim finds nothing and says how long to wait."""
    answer = await submit(stores, delay=SECOND)
    clock.advance(SECOND - MICROSECOND)
    early = await claim(stores)
    assert (_ids(early), early.next_due_in) == ([], MICROSECOND)
    clock.advance(MICROSECOND)
    due = await claim(stores)
    assert (_ids(due), due.next_due_in) == ([answer.job_id], None)


async def test_the_next_due_time_is_that_of_the_queue_and_the_types(stores: Stores) -> None:
    """Jobs of other queues and types do not wake a worker; after as many as were asked for, it claims again anyway."""
    await submit(stores, type="foreign", delay=SECOND)
    await submit(stores, queue="elsewhere", delay=SECOND)
    await submit(stores, delay=5 * SECOND)
    await submit(stores)
    await submit(stores)
    full, short = await claim(stores, limit=1), await claim(stores, limit=2)
    assert (len(full.jobs), full.next_due_in) == (1, None)
    assert (len(short.jobs), short.next_due_in) == (1, 5 * SECOND)


async def test_a_claimed_job_carries_what_a_worker_needs(stores: Stores) -> None:
    """Payload, budget, times and keys come with the token."""
    retry = await submit(stores, payload='{"a": 1}', max_attempts=3, timeout=None, effect_key="mine")
    (job,) = (await claim(stores)).jobs
    assert (job.token.job_id, job.token.attempt) == (retry.job_id, 1)
    assert (job.payload, job.max_attempts, job.timeout, job.effect_key) == ('{"a": 1}', 3, None, "mine")
    assert (job.type, job.queue, job.failures, job.lease, job.run_at) == (
        "t",
        "default",
        0,
        30 * SECOND,
        START,
    )


async def test_a_claim_can_be_looked_up(stores: Stores) -> None:
    """The jobs still running under a claim call are found by its claim_id."""
    await submit(stores)
    await submit(stores)
    claimed = await claim(stores)
    claim_id = claimed.jobs[0].token.claim_id
    assert list(await stores.jobs.claimed_by(claim_id)) == list(claimed.jobs)
    await succeed(stores, claimed.jobs[0].token)
    assert list(await stores.jobs.claimed_by(claim_id)) == list(claimed.jobs[1:])
    assert list(await stores.jobs.claimed_by(str(uuid4()))) == []


async def test_a_queue_nobody_registered_gives_nothing(lockstep: Lockstep) -> None:
    """A claim from an unknown queue is empty, whatever jobs are waiting in it."""
    request = ClaimRequest(
        queue="default", types=frozenset({"t"}), limit=9, claim_id=str(uuid4()), origin=WORKER
    )
    for stores in (lockstep.memory, lockstep.postgres):
        await submit(stores)
        assert _ids(await stores.jobs.claim(request)) == []


async def test_a_claim_says_whether_its_queue_is_open(lockstep: Lockstep) -> None:
    """Neither an unknown queue is nor a paused one, whatever is in it; an empty one is, and one with jobs."""

    async def opened(expected: bool) -> int:
        request = ClaimRequest(
            queue="new", types=frozenset({"t"}), limit=9, claim_id=str(uuid4()), origin=WORKER
        )
        claimed = await lockstep.both(lambda stores: stores.jobs.claim(request))
        assert claimed.open is expected
        return len(claimed.jobs)

    assert await opened(False) == 0
    await lockstep.both(lambda stores: stores.queues.register(["new"]))
    assert await opened(True) == 0
    for stores in (lockstep.memory, lockstep.postgres):
        await submit(stores, queue="new")
    await lockstep.both(lambda stores: stores.queues.pause("new", OPERATOR))
    assert await opened(False) == 0
    await lockstep.both(lambda stores: stores.queues.resume("new", OPERATOR))
    assert await opened(True) == 1


async def test_a_paused_queue_gives_nothing_until_it_is_resumed(stores: Stores, clock: Clock) -> None:
    """Between pause and resume no claim succeeds; running jobs go on."""
    running = await claim_one(stores)
    waiting = await submit(stores)
    assert await stores.queues.pause("default", OPERATOR) is Verdict.ACCEPTED
    assert _ids(await claim(stores)) == []
    assert await succeed(stores, running.token) is Verdict.ACCEPTED
    assert await stores.queues.resume("default", OPERATOR) is Verdict.ACCEPTED
    assert _ids(await claim(stores)) == [waiting.job_id]


async def test_pausing_and_resuming_leave_control_events(lockstep: Lockstep, clock: Clock) -> None:
    """A pause leaves two events, a resume one; repeating either is ``already_applied`` and leaves none."""
    both = lockstep.both
    assert await both(lambda s: s.queues.pause("new", OPERATOR)) is Verdict.ACCEPTED
    clock.advance(SECOND)
    assert await both(lambda s: s.queues.pause("new", OPERATOR)) is Verdict.ALREADY_APPLIED
    assert await both(lambda s: s.queues.resume("new", OPERATOR)) is Verdict.ACCEPTED
    assert await both(lambda s: s.queues.resume("new", OPERATOR)) is Verdict.ALREADY_APPLIED
    assert await both(lambda s: s.queues.resume("never seen", OPERATOR)) is Verdict.ALREADY_APPLIED
    events = [event async for event in lockstep.memory.log.control_stream()]
    assert [event.name for event in events] == [
        ControlEventName.QUEUE_PAUSING,
        ControlEventName.QUEUE_PAUSED,
        ControlEventName.QUEUE_RESUMED,
    ]
    assert {event.subject for event in events} == {"queue:new"}
    await lockstep.compare()


async def test_queues_are_listed_with_what_is_in_them(lockstep: Lockstep) -> None:
    """Registered queues and those that only jobs know, by name, with the counts of now."""
    for stores in (lockstep.memory, lockstep.postgres):
        await stores.queues.register(["b", "a", "b"])
        await submit(stores, queue="c")
        await submit(stores, queue="c", delay=SECOND)
        await submit(stores, queue="a")
        await claim(stores, queue="a")
        await stores.queues.pause("b", OPERATOR)
    listed = await lockstep.both(lambda stores: stores.queues.list())
    assert list(listed) == [
        Queue(name="a", running=1),
        Queue(name="b", paused_at=START),
        Queue(name="c", pending=2, due=1),
    ]


async def test_reaping_takes_the_smallest_ids_up_to_its_limit(stores: Stores, clock: Clock) -> None:
    """Lapsed leases end in job_id order, no more than asked for, each with its own draw."""
    for _ in range(3):
        await submit(stores)
    claimed = _ids(await claim(stores))
    clock.advance(31 * SECOND)
    assert await stores.jobs.reap(2, [0.5, 0.5]) == 2
    states = [job.state.value for job_id in claimed if (job := await stores.reader.get(job_id))]
    assert states == ["pending", "pending", "running"]
    assert await stores.jobs.reap(2, [0.5, 0.5]) == 1
    assert await stores.jobs.reap(2, [0.5, 0.5]) == 0


async def test_each_expiry_is_spread_by_its_own_draw(lockstep: Lockstep, clock: Clock) -> None:
    """From the second expiry in a row on, the n-th reaped job waits by the n-th draw."""
    for stores in (lockstep.memory, lockstep.postgres):
        for _ in range(3):
            await submit(stores)
    for draws in ([0.0] * 3, [0.0, 0.5, 0.999]):
        for stores in (lockstep.memory, lockstep.postgres):
            assert len((await claim(stores)).jobs) == 3
        clock.advance(31 * SECOND)
        for stores in (lockstep.memory, lockstep.postgres):
            assert await stores.jobs.reap(3, draws) == 3
    jobs = await lockstep.both(lambda stores: stores.reader.page(JobFilter()))
    waits = [job.run_at - clock() for job in reversed(jobs)]
    assert waits == [timedelta(0), 10 * SECOND, 19.98 * SECOND]


async def test_a_job_named_twice_is_operated_on_once(stores: Stores) -> None:
    """Both mentions get the same answer, and there is one event."""
    first = await submit(stores)
    verdicts = await stores.jobs.operate([first.job_id, first.job_id], c.Edit(origin=OPERATOR, priority=1))
    assert list(verdicts) == [Verdict.ACCEPTED, Verdict.ACCEPTED]
    assert len(await stores.log.history(first.job_id)) == 2


async def test_operations_are_answered_in_the_order_given(stores: Stores) -> None:
    """Whatever order locks are taken in, the answers stand where the questions stood."""
    ids = [(await submit(stores)).job_id for _ in range(3)]
    await stores.jobs.operate([ids[1]], c.Cancel(origin=OPERATOR))
    verdicts = await stores.jobs.operate([999_999, ids[2], ids[1], ids[0]], c.Cancel(origin=OPERATOR))
    accepted = Verdict.ACCEPTED
    assert list(verdicts) == [Verdict.GONE, accepted, Verdict.ALREADY_APPLIED, accepted]
