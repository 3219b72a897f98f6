"""Many jobs led into the same situation together, in both databases, so that each can meet another command."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID, uuid5

from attrs import define, evolve, field

from fencepost.application.ports.job_store import ClaimRequest
from fencepost.application.ports.submitter import Submission
from fencepost.domain import commands as c
from fencepost.domain.job import Specification
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import Verdict
from support.stores import Lockstep

WORKER = c.Origin("worker:contract", request_id="req-1", build="build-7")
OPERATOR = c.Origin("user:ann", request_id="req-2", reason="because")
_IDS = UUID(int=7)


@define
class Crowd:
    """Equal jobs in a queue of their own."""

    lockstep: Lockstep
    queue: str
    job_ids: list[int] = field(factory=list)
    tokens: list[Token] = field(factory=list)
    """One per job and claim, in order of claims."""
    claims: int = 0

    async def submit(self, size: int, specification: Specification, delay: timedelta | None = None) -> None:
        """Accept the jobs."""
        await self.lockstep.both(lambda stores: stores.queues.register([self.queue]))
        command = c.Submit(
            origin=OPERATOR, specification=evolve(specification, queue=self.queue), delay=delay
        )
        answers = await self.lockstep.both(
            lambda stores: stores.submitter.submit([Submission(command)] * size)
        )
        self.job_ids = [answer.job_id for answer in answers]

    async def claim(self, expected: int | None = None) -> None:
        """Let a worker take all of them, once they are due."""
        request = self.claim_request()
        claimed = await self.lockstep.both(lambda stores: stores.jobs.claim(request))
        assert len(claimed.jobs) == (len(self.job_ids) if expected is None else expected)
        self.tokens += [job.token for job in claimed.jobs]

    def claim_request(self, limit: int = 10_000) -> ClaimRequest:
        """Return the next claim call."""
        self.claims += 1
        claim_id = str(uuid5(_IDS, f"{self.queue} {self.claims}"))
        return ClaimRequest(
            queue=self.queue, types=frozenset({"t", "other"}), limit=limit, claim_id=claim_id, origin=WORKER
        )

    async def report(self, make: Callable[[Token], c.Report]) -> None:
        """Let the holder of each job's lease make a report, which is accepted."""
        reports = [make(self.latest(job_id)) for job_id in self.job_ids]
        verdicts = await self.lockstep.both(lambda stores: stores.jobs.report(reports))
        assert set(verdicts) == {Verdict.ACCEPTED}

    async def operate(self, operation: c.Operation) -> None:
        """Let an operator act on all, successfully."""
        verdicts = await self.lockstep.both(lambda stores: stores.jobs.operate(self.job_ids, operation))
        assert set(verdicts) == {Verdict.ACCEPTED}

    async def expire(self) -> None:
        """Let all leases lapse and the reaper end them."""
        self.lockstep.clock.advance(timedelta(hours=25))
        assert await self.reap() >= len(self.job_ids)

    async def reap(self) -> int:
        """Let the reaper end whatever has lapsed anywhere."""
        draws = [0.0, 0.5, 0.999] * 1_000
        return await self.lockstep.both(lambda stores: stores.jobs.reap(len(draws), draws))

    def latest(self, job_id: int) -> Token:
        """Return the token granted last."""
        return self.granted(job_id)[-1]

    def granted(self, job_id: int) -> Sequence[Token]:
        """Return all tokens granted for a job, in order."""
        return [token for token in self.tokens if token.job_id == job_id]
