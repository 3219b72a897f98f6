"""Random lives of a few jobs, the same in both databases; one seed, one life."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import Random
from uuid import UUID

from attrs import define, field

from fencepost.application.ports.job_store import ClaimRequest
from fencepost.application.ports.submitter import Submission
from fencepost.domain import commands as c
from fencepost.domain.job import Job, Specification
from fencepost.domain.token import Token
from support.asks import LATER
from support.crowd import OPERATOR, WORKER
from support.reports import every_report
from support.situations import MICROSECOND, POLICIES
from support.stores import Lockstep

TYPES = ("t", "other")
NOWHERE = 9_000_000
"""A job_id that no job ever gets."""
DRAWS = (0.0, 0.5, 0.999)


@define
class Life:
    """Some jobs in two queues of their own, and every token ever granted for them."""

    lockstep: Lockstep
    seed: int
    random: Random = field(init=False)
    queues: tuple[str, str] = field(init=False)
    job_ids: list[int] = field(factory=list)
    tokens: list[Token] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        """Let the seed decide everything."""
        self.random = Random(self.seed)
        self.queues = (f"life-{self.seed}", f"life-{self.seed}-b")

    async def live(self, steps: int) -> None:
        """Take random steps and compare after each."""
        await self.lockstep.both(lambda stores: stores.queues.register(self.queues))
        await self.submit()
        for _ in range(steps):
            await self.random.choices(list(self.choices), list(self.choices.values()))[0]()
            await self.lockstep.compare(self.job_ids[0] - 1, self.job_ids[-1] + 1)
        await self.lockstep.both(lambda stores: stores.queues.list())

    @property
    def choices(self) -> dict[Callable[[], Awaitable[None]], int]:
        """What may happen next, and how often."""
        return {
            self.submit: 1 if len(self.job_ids) < 8 else 0,
            self.claim: 9,
            self.report: 8,
            self.heartbeat: 3,
            self.reap: 3,
            self.operate: 2,
            self.requeue: 1,
            self.switch_queue: 1,
            self.wait: 6,
        }

    async def submit(self) -> None:
        """Accept one to three jobs."""
        submissions = [Submission(self._submit()) for _ in range(self.random.randint(1, 3))]
        answers = await self.lockstep.both(lambda stores: stores.submitter.submit(submissions))
        self.job_ids += [answer.job_id for answer in answers]

    def _submit(self) -> c.Submit:
        pick = self.random
        specification = Specification(
            type=pick.choice(TYPES),
            payload=pick.choice(("{}", '{"a":"\U0001f600"}')),
            queue=pick.choice(self.queues),
            priority=pick.choice((0, 5, 5, 9)),
            max_attempts=pick.randint(1, 3),
            timeout=pick.choice((None, timedelta(minutes=1))),
            lease=timedelta(seconds=pick.choice((1, 30, 90))),
            retry=pick.choice(POLICIES),
            effect_key=pick.choice((None, "mine")),
        )
        delay = pick.choice((None, timedelta(0), timedelta(seconds=20)))
        return c.Submit(origin=OPERATOR, specification=specification, delay=delay)

    async def claim(self) -> None:
        """Let a worker ask for jobs."""
        request = ClaimRequest(
            queue=self.random.choice((*self.queues, "unknown")),
            types=frozenset(self.random.sample(TYPES, self.random.randint(1, 2))),
            limit=self.random.randint(1, 3),
            claim_id=str(UUID(int=self.random.getrandbits(128), version=4)),
            origin=WORKER,
        )
        claimed = await self.lockstep.both(lambda stores: stores.jobs.claim(request))
        self.tokens += [job.token for job in claimed.jobs]
        await self.lockstep.both(lambda stores: stores.jobs.claimed_by(request.claim_id))

    async def report(self) -> None:
        """Let holders and zombies report, at most once per job."""
        tokens = {token.job_id: token for token in self._some_tokens()}.values()
        reports = [self._report(token) for token in tokens]
        await self.lockstep.both(lambda stores: stores.jobs.report(reports))
        if self.random.random() < 0.2:
            await self.lockstep.both(lambda stores: stores.jobs.report(reports))

    def _report(self, token: Token) -> c.Report:
        delay = timedelta(seconds=self.random.choice((0, 1, 33)))
        draw = self.random.choice(DRAWS)
        return self.random.choice(every_report(token, WORKER, delay=delay, draw=draw))

    async def heartbeat(self) -> None:
        """Let workers renew what they believe to hold."""
        tokens = self._some_tokens()
        await self.lockstep.both(lambda stores: stores.jobs.heartbeat(tokens))

    async def reap(self) -> None:
        """Let the reaper end a few leases."""
        limit = self.random.randint(1, 3)
        draws = [self.random.choice(DRAWS) for _ in range(limit)]
        await self.lockstep.both(lambda stores: stores.jobs.reap(limit, draws))

    async def operate(self) -> None:
        """Let an operator act on some jobs, in any order."""
        operation = self._operation()
        job_ids = self.random.sample([*self.job_ids, NOWHERE], min(3, len(self.job_ids)))
        await self.lockstep.both(lambda stores: stores.jobs.operate(job_ids, operation))

    def _operation(self) -> c.Operation:
        soon = self.lockstep.clock() + timedelta(seconds=self.random.choice((-5, 0, 10)))
        editing = self.random.choice(
            (
                {"run_at": soon},
                {"priority": 9},
                {"payload": "[1]", "queue": self.random.choice(self.queues)},
            )
        )
        return self.random.choice(
            (
                c.Cancel(origin=OPERATOR),
                c.Cancel(origin=OPERATOR),
                c.Revoke(origin=OPERATOR, cancel=self.random.random() < 0.3),
                c.Requeue(origin=OPERATOR, payload='{"again":1}'),
                c.Edit(origin=OPERATOR, **editing),
                c.Dismiss(origin=OPERATOR),
            )
        )

    async def requeue(self) -> None:
        """Bring finished jobs back, or nothing would happen any more."""
        operation = c.Requeue(origin=OPERATOR, fresh_effect_key=self.random.choice((False, True)))
        await self.lockstep.both(lambda stores: stores.jobs.operate(self.job_ids, operation))

    async def switch_queue(self) -> None:
        """Pause or resume a queue."""
        queue, pause = self.random.choice(self.queues), self.random.random() < 0.2
        if pause:
            await self.lockstep.both(lambda stores: stores.queues.pause(queue, OPERATOR))
        else:
            await self.lockstep.both(lambda stores: stores.queues.resume(queue, OPERATOR))

    async def wait(self) -> None:
        """Move the clock: a little, a lot, or exactly to where something happens."""
        moments = [moment for job in await self._jobs() for moment in (job.run_at, job.lease_expires_at)]
        now = self.lockstep.clock()
        ahead = sorted(moment - now for moment in moments if moment is not None and now < moment < LATER)
        leaps = [timedelta(0), MICROSECOND, timedelta(seconds=self.random.randint(1, 40))]
        if ahead:
            leaps += [ahead[0], ahead[0] + MICROSECOND, self.random.choice(ahead)]
        self.lockstep.clock.advance(self.random.choice(leaps))

    async def _jobs(self) -> list[Job]:
        jobs = [await self.lockstep.memory.reader.get(job_id) for job_id in self.job_ids]
        return [job for job in jobs if job is not None]

    def _some_tokens(self) -> list[Token]:
        """The latest tokens are likelier than old ones; now and then one that nobody was granted."""
        pool = [*self.tokens[-6:], *self.tokens]
        if not pool:
            return []
        tokens = self.random.sample(pool, min(len(pool), self.random.randint(1, 4)))
        if self.random.random() < 0.1:
            tokens.append(Token(NOWHERE, 1, tokens[0].claim_id))
        return tokens
