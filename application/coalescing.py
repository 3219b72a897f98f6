"""Group commit: small submits made at the same time share one statement, and each is answered after its commit."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from attrs import define, field, frozen

from ..domain.errors import InvalidInput, Overloaded, UnknownOutcome
from .ports.submitter import Submission, Submitted, Submitter

Answers = Sequence[Submitted]


@frozen
class Bounds:
    """``flights`` statements at most are under way; jobs and bytes of payload bound one batch, and all that wait.

    Beside a statement under way another begins only for a ``crowd`` of jobs, or when that one has taken longer than
    ``patience``, in seconds: few large statements cost less than many small ones, but nobody waits behind a dead link.
    A call of more than ``small`` jobs is a batch of its own.
    """

    flights: int = 2
    crowd: int = 100
    patience: float = 0.05
    small: int = 10
    batch_jobs: int = 500
    batch_bytes: int = 4 * 1024 * 1024
    waiting_jobs: int = 10_000
    waiting_bytes: int = 64 * 1024 * 1024


@define(eq=False)
class _Call:
    """What one caller wants to have submitted, and its answer."""

    submissions: Sequence[Submission]
    answer: asyncio.Future[Answers]
    bytes: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.bytes = sum(_bytes(submission.command.specification.payload) for submission in self.submissions)

    def settle(self, answers: Answers) -> None:
        if not self.answer.done():  # nobody waits any longer for one that is cancelled
            self.answer.set_result(answers)

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class CoalescingSubmitter:
    """Implements the port ``Submitter`` over another one; for one event loop at a time.

    Nobody waits for company: an idle submitter begins at once, and what arrives meanwhile is the next batch. Submits
    with keys or unique options, which may wait for others, go by themselves.
    """

    def __init__(
        self,
        submitter: Submitter,
        blames_values: Callable[[Exception], bool] = lambda error: isinstance(error, InvalidInput),
        bounds: Bounds | None = None,
    ) -> None:
        """Hand batches over to ``submitter``.

        ``blames_values`` tells errors that say: nothing was written, and one submission may be to blame. Those of a
        batch are found by halving; any other error is the answer to each member.
        """
        self._submitter = submitter
        self._blames_values = blames_values
        self._bounds = bounds or Bounds()
        self._waiting: deque[_Call] = deque()
        self._jobs = 0
        self._bytes = 0
        self._flights: set[asyncio.Task[None]] = set()
        self._begun = 0.0

    async def submit(self, submissions: Sequence[Submission]) -> Answers:
        """Answer once the batch these went with is durable.

        Raises what the port says, and Overloaded when too many wait already. Cancelling one call leaves the others of
        its batch alone.
        """
        if len(submissions) > self._bounds.small or any(s.key or s.unique_key for s in submissions):
            return await self._submitter.submit(submissions)
        loop = asyncio.get_running_loop()
        call = _Call(submissions, loop.create_future())
        self._admit(call)
        loop.call_soon(self._take_off)  # after all that came in with the same look at the network
        return await call.answer

    def _admit(self, call: _Call) -> None:
        jobs, size = self._jobs + len(call.submissions), self._bytes + call.bytes
        if jobs > self._bounds.waiting_jobs or size > self._bounds.waiting_bytes:
            raise Overloaded(f"{self._jobs} jobs wait to be written already")
        self._jobs, self._bytes = jobs, size
        self._waiting.append(call)

    def _take_off(self) -> None:
        loop = asyncio.get_running_loop()
        if self._may_begin(loop.time()) and (calls := list(self._next_batch())):
            flight = asyncio.ensure_future(self._settle(calls))
            self._flights.add(flight)
            flight.add_done_callback(partial(self._land, calls))
            self._begun = loop.time()
            loop.call_later(1.1 * self._bounds.patience, self._take_off)  # loops may be a little early

    def _may_begin(self, now: float) -> bool:
        if not self._flights:
            return True
        if len(self._flights) == self._bounds.flights:
            return False
        return self._jobs >= self._bounds.crowd or now >= self._begun + self._bounds.patience

    def _land(self, calls: Sequence[_Call], flight: asyncio.Task[None]) -> None:
        self._flights.discard(flight)
        if not flight.cancelled():
            self._take_off()
            return
        for call in calls:  # the loop is being closed, and the statement may be committing
            call.fail(UnknownOutcome("the process stopped before it heard of the commit"))

    def _next_batch(self) -> Iterator[_Call]:
        jobs = size = 0
        while self._waiting:
            call = self._waiting[0]
            jobs, size = jobs + len(call.submissions), size + call.bytes
            if jobs > self._bounds.batch_jobs or (size > self._bounds.batch_bytes and size > call.bytes):
                return
            self._waiting.popleft()
            self._jobs, self._bytes = self._jobs - len(call.submissions), self._bytes - call.bytes
            if not call.answer.cancelled():
                yield call

    async def _settle(self, calls: Sequence[_Call]) -> None:
        """Answer each call with its own truth."""
        groups = [calls]
        while groups:
            group = groups.pop()
            try:
                await self._submit(group)
            except Exception as error:  # noqa: BLE001 - whatever it is, each caller hears of it
                if len(group) > 1 and self._blames_values(error):
                    half = len(group) // 2
                    groups += [group[half:], group[:half]]
                    continue
                for call in group:
                    call.fail(error)

    async def _submit(self, calls: Sequence[_Call]) -> None:
        answers = await self._submitter.submit([s for call in calls for s in call.submissions])
        start = 0
        for call in calls:
            end = start + len(call.submissions)
            call.settle(answers[start:end])
            start = end


def _bytes(text: str | None) -> int:
    if text is None or text.isascii():
        return len(text or "")
    return len(text.encode())
