"""Claiming: one claim call, its outcome made certain."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from datetime import timedelta
from typing import Any

from attrs import frozen

from ...domain.commands import Origin
from ...domain.errors import Unavailable, UnknownOutcome
from ..ports.job_store import Claimed, ClaimedJob, ClaimRequest, JobStore
from ..ports.local_time import LocalTime

_log = logging.getLogger(__name__)

DOUBT = 5.0
"""Seconds after which a claim that was not found is looked for again: the server may have been busy with it."""


@frozen
class Asked:
    """One claim of a queue; awaited, it is what ``Claiming.claim`` returns."""

    queue: str
    limit: int
    answer: Coroutine[Any, Any, tuple[Claimed, float]] | asyncio.Task[tuple[Claimed, float]]

    def __await__(self) -> Generator[Any, None, tuple[Claimed, float]]:
        """Wait for the answer."""
        return self.answer.__await__()

    def cancel(self) -> None:
        """Do not wait any longer."""
        if isinstance(self.answer, asyncio.Task):
            self.answer.cancel()


class Claiming:
    """Claims in the name of one worker."""

    def __init__(
        self,
        store: JobStore,
        origin: Origin,
        types: frozenset[str],
        new_claim_id: Callable[[], str],
        time: LocalTime,
        pause: Callable[[Exception], Awaitable[None]],
    ) -> None:
        """Take the collaborators; ``pause`` waits before the database is tried again."""
        self._store, self._origin, self._types = store, origin, types
        self._new_claim_id, self._time, self._pause = new_claim_id, time, pause
        self._doubtful: list[tuple[str, str, float]] = []

    def ask(self, queue: str, limit: int) -> Asked:
        """Return a claim that is sent when it is awaited."""
        return Asked(queue, limit, self.claim(queue, limit))

    def ask_at_once(self, queue: str, limit: int) -> Asked:
        """Return a claim that is sent with the loop's next turn."""
        return Asked(queue, limit, asyncio.ensure_future(self.claim(queue, limit)))

    async def claim(self, queue: str, limit: int) -> tuple[Claimed, float]:
        """Return what was claimed and the moment the call was sent, from which local leases count.

        Raises Unavailable when nothing was claimed. When the outcome is unknown, it is looked up until it is known.
        """
        request = ClaimRequest(
            queue=queue,
            types=self._types,
            limit=limit,
            claim_id=self._new_claim_id(),
            origin=self._origin,
        )
        sent = self._time.monotonic()
        try:
            return await self._store.claim(request), sent
        except UnknownOutcome as error:
            await self._pause(error)
            jobs = await self._look_up(request.claim_id)
            if not jobs:
                self._doubtful.append((queue, request.claim_id, sent))
            return Claimed(jobs, next_due_in=timedelta(0)), sent  # whether there is more was not heard

    async def stragglers(self) -> Sequence[tuple[ClaimedJob, str, float]]:
        """Return jobs of claims whose commit came after they were looked up, with queue and moment of sending."""
        if not self._doubtful or self._doubtful[0][2] + DOUBT > self._time.monotonic():
            return ()
        queue, claim_id, sent = self._doubtful.pop(0)
        return [(job, queue, sent) for job in await self._look_up(claim_id)]

    async def _look_up(self, claim_id: str) -> Sequence[ClaimedJob]:
        while True:
            try:
                return await self._store.claimed_by(claim_id)
            except (Unavailable, UnknownOutcome) as error:
                await self._pause(error)
