"""A job store that can be cut off, lose replies, or choke on a report."""

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from fencepost.application.ports.job_store import Claimed, ClaimedJob, ClaimRequest, JobStore, LeaseAnswer
from fencepost.application.ports.local_time import LocalTime
from fencepost.domain.commands import Operation, Report
from fencepost.domain.errors import TooSlow, Unavailable
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import Verdict

T = TypeVar("T")
TIMEOUT = 7.5
"""Seconds until the database gives up what takes too long."""


class FaultyStore:
    """Implements ``JobStore`` on top of another; ``before`` and ``after`` hold errors to raise once each, by method.

    An error in ``before`` means that nothing happened, one in ``after`` that only the reply was lost. While ``away``
    every call fails. ``capacity`` is how much can be done in time, ``pace`` the seconds that the answer
    to a claim takes for each job, ``search`` those of a search for lapsed leases. ``calls`` keeps when each method was
    called.
    """

    def __init__(self, store: JobStore, time: LocalTime) -> None:
        """Let everything through."""
        self._store, self._time = store, time
        self.away: set[str] = set()
        self.capacity, self.pace, self.search = 1_000_000, 0.0, 0.0
        self.before: dict[str, deque[Exception]] = defaultdict(deque)
        self.after: dict[str, deque[Exception]] = defaultdict(deque)
        self.calls: dict[str, list[float]] = defaultdict(list)
        self.reported: list[list[Report]] = []
        self.beaten: list[list[Token]] = []
        self.asked: list[ClaimRequest] = []
        self.indigestible: Callable[[Report], bool] = lambda report: False

    async def claim(self, request: ClaimRequest) -> Claimed:
        """Claim."""
        self.asked.append(request)
        answer = await self._through("claim", lambda: self._store.claim(request), request.limit)
        if self.pace:
            await self._time.sleep(self.pace * len(answer.jobs))
        return answer

    async def commit_late(self, request: ClaimRequest) -> Claimed:
        """Play a server that comes to a claim after everybody has given it up."""
        return await self._store.claim(request)

    async def claimed_by(self, claim_id: str) -> Sequence[ClaimedJob]:
        """Look a claim up."""
        return await self._through("claimed_by", lambda: self._store.claimed_by(claim_id))

    async def report(self, reports: Sequence[Report]) -> Sequence[Verdict]:
        """Report; an indigestible one makes the whole batch fail as bad data does."""
        self.reported.append(list(reports))
        if any(map(self.indigestible, reports)):
            raise ValueError("a report that cannot be stored")
        return await self._through("report", lambda: self._store.report(reports), len(reports))

    async def heartbeat(self, tokens: Sequence[Token]) -> Sequence[LeaseAnswer]:
        """Renew."""
        self.beaten.append(list(tokens))
        return await self._through("heartbeat", lambda: self._store.heartbeat(tokens), len(tokens))

    async def reap(self, limit: int, draws: Sequence[float]) -> int:
        """Reap."""
        reaped = await self._through("reap", lambda: self._store.reap(limit, draws))
        if self.search:
            await self._time.sleep(self.search)
        return reaped

    async def operate(self, job_ids: Sequence[int], operation: Operation) -> Sequence[Verdict]:
        """Operate."""
        return await self._through("operate", lambda: self._store.operate(job_ids, operation))

    async def _through(self, method: str, call: Callable[[], Awaitable[T]], size: int = 1) -> T:
        self.calls[method].append(self._time.monotonic())
        if size > self.capacity:
            await self._time.sleep(TIMEOUT)
            raise TooSlow("cancelled by a timeout")
        if method in self.away:
            raise Unavailable("cut off")
        if self.before[method]:
            raise self.before[method].popleft()
        answer = await call()
        if self.after[method]:
            raise self.after[method].popleft()
        return answer
