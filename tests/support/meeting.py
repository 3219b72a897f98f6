"""One situation meets every command, in both databases: verdicts, rows and events have to agree."""

from collections.abc import Iterable
from datetime import timedelta

from attrs import define, field

from fencepost.domain import commands as c
from fencepost.domain.decide import matching_rule
from fencepost.domain.job import Job
from fencepost.domain.transitions import RULES
from support.asks import CLAIMS, EXPIRIES, HEARTBEATS, OPERATIONS, REPORTS, SIZE, reports_for, tokens_for
from support.crowd import OPERATOR, WORKER, Crowd
from support.situations import Situation
from support.stores import Lockstep


@define
class Meeting:
    """Runs situations one after the other and counts what met what."""

    lockstep: Lockstep
    pairs: int = 0
    met: set[int] = field(factory=set)
    """Which rules of the table matched, by their number in it."""

    async def hold(self, situation: Situation, number: int) -> None:
        """Lead a crowd into the situation and let each of its jobs meet another command."""
        crowd = Crowd(self.lockstep, f"queue-{number}")
        await situation.enter(crowd, SIZE)
        first = crowd.job_ids[0]
        ids = iter(crowd.job_ids)
        await self._report(crowd, [next(ids) for _ in range(REPORTS)])
        await self._heartbeat(crowd, [next(ids) for _ in range(HEARTBEATS)])
        for operation in OPERATIONS:
            await self._operate(next(ids), operation)
        await self.lockstep.compare(first - 1, first + SIZE)
        await self._claim(crowd, [next(ids) for _ in range(CLAIMS)])
        await self._reap(crowd, [next(ids) for _ in range(EXPIRIES)])
        await self.lockstep.compare(first - 1, first + SIZE)
        self.lockstep.clock.advance(timedelta(hours=25))
        await crowd.reap()  # compared with what the next situation brings

    async def _report(self, crowd: Crowd, job_ids: list[int]) -> None:
        reports = [reports_for(job_id, crowd.granted(job_id))[index] for index, job_id in enumerate(job_ids)]
        await self._meet(zip(job_ids, reports, strict=True))
        await self.lockstep.both(lambda stores: stores.jobs.report(reports))
        again = reports[::-1]
        await self.lockstep.both(lambda stores: stores.jobs.report(again))

    async def _heartbeat(self, crowd: Crowd, job_ids: list[int]) -> None:
        tokens = [tokens_for(job_id, crowd.granted(job_id))[index] for index, job_id in enumerate(job_ids)]
        self.pairs += len(tokens)
        await self.lockstep.both(lambda stores: stores.jobs.heartbeat(tokens))

    async def _operate(self, job_id: int, operation: c.Operation) -> None:
        await self._meet([(job_id, operation)])
        await self.lockstep.both(lambda stores: stores.jobs.operate([job_id], operation))

    async def _claim(self, crowd: Crowd, job_ids: list[int]) -> None:
        request = crowd.claim_request()
        await self._meet((job_id, c.Claim(origin=WORKER, claim_id=request.claim_id)) for job_id in job_ids)
        await self.lockstep.both(lambda stores: stores.jobs.claim(request))
        await self.lockstep.both(lambda stores: stores.jobs.claimed_by(request.claim_id))

    async def _reap(self, crowd: Crowd, job_ids: list[int]) -> None:
        await self._meet((job_id, c.Expire(origin=OPERATOR)) for job_id in job_ids)
        await crowd.reap()

    async def _meet(self, asked: Iterable[tuple[int, c.Command]]) -> None:
        for job_id, command in asked:
            self.pairs += 1
            job = await self.lockstep.memory.reader.get(job_id)
            assert isinstance(job, Job)
            if rule := matching_rule(job, command, self.lockstep.clock()):
                self.met.add(RULES.index(rule))
