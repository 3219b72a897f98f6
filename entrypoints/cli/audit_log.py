"""`fencepost audit log`."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

from attrs import define, field
from cyclopts import Parameter

from ...application.ports.event_log import LogFilter
from ...domain.values import check_integer
from .flags import PLAIN, Flags, Output
from .inputs import event_names
from .inputs import since as moment_since
from .output import chosen, emit_many
from .session import session
from .terminal import say
from .views import NOTE, log_record

if TYPE_CHECKING:
    from ...application.ports.event_log import EventLog
    from ...domain.event import ControlEvent, JobEvent

COLUMNS = ("position", "at", "name", "subject", "actor")
LIMIT_MOST = 10_000
FOLLOW_EVERY = 1.0
LATE = timedelta(seconds=30)
"""Positions are handed out before commit: an event may appear this long after one with a higher position."""


async def log(  # noqa: PLR0913 - an argument for each flag
    *,
    name: Annotated[tuple[str, ...] | None, Parameter(help="Only events of this name.", negative=())] = None,
    actor: Annotated[str | None, Parameter(help="Only this actor's, such as user:ann.")] = None,
    job: Annotated[int | None, Parameter(help="Only about this job.")] = None,
    since: Annotated[str | None, Parameter(help="A moment, or a duration back from now such as 2h.")] = None,
    after: Annotated[int, Parameter(help="Only positions above this one: the next page.")] = 0,
    limit: Annotated[int, Parameter(help="At most this many at once.")] = 100,
    follow: Annotated[bool, Parameter(help="Go on with new events until interrupted.", negative=())] = False,
    flags: Flags = PLAIN,
) -> None:
    """Read the global history, oldest first."""
    check_integer("limit", limit, 1, LIMIT_MOST)
    names = event_names("name", name)
    async with session(flags) as container:
        events = container.event_log()
        where = LogFilter(
            names=names,
            actor=actor,
            job_id=job,
            since=await moment_since("since", since, events),
        )
        if follow:
            await _follow(Tail(events, where, after, limit), flags)
            return
        page = await events.page(where, after=after, limit=limit)
    emit_many(flags.output, map(log_record, page), COLUMNS, NOTE)
    if len(page) == limit:
        say(f"there may be more: --after {page[-1].position}")


async def _follow(tail: "Tail", flags: Flags) -> None:
    output: Output = "table" if chosen(flags.output) == "table" else "ndjson"
    async for batch in tail.batches():
        emit_many(output, map(log_record, batch), COLUMNS, NOTE)


@define
class Tail:
    """Reads what is new again and again, reaching back for events that committed late."""

    events: "EventLog"
    where: LogFilter
    after: int
    limit: int
    _shown: dict[int, Any] = field(factory=dict)

    async def batches(self) -> AsyncIterator[list["JobEvent | ControlEvent"]]:
        """Yield batches of events not seen before, for ever."""
        while True:
            clock = await self.events.clock()
            fresh = [event async for event in self._read() if event.position not in self._shown]
            self._shown |= {event.position or 0: event.at for event in fresh}
            if fresh:
                yield fresh
            settled = [position for position, at in self._shown.items() if at < clock - LATE]
            self.after = max([self.after, *settled])
            self._shown = {position: at for position, at in self._shown.items() if position > self.after}
            if len(fresh) < self.limit:
                await asyncio.sleep(FOLLOW_EVERY)

    async def _read(self) -> AsyncIterator["JobEvent | ControlEvent"]:
        after = self.after
        while page := await self.events.page(self.where, after=after, limit=self.limit):
            for event in page:
                yield event
            after = page[-1].position or after
            if len(page) < self.limit:
                return
