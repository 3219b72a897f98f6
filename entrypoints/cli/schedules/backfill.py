"""`fencepost schedules backfill`, `backfills` and `stop-backfill`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ....domain.backfill import Wanted
from ....domain.facts import instant
from ....domain.schedule import Overlap
from ....domain.submission import check_origin
from ....domain.values import check_integer, check_name
from ...backfill_records import backfill_record
from ..bulk import ASKING, Assent, emit_counted
from ..exits import OK
from ..flags import PLAIN, Flags, Reason
from ..inputs import since
from ..output import emit_many, emit_one
from ..session import origin, session
from ..terminal import say

COLUMNS = ("backfill_id", "from", "to", "overlap", "fire_times", "decided", "fired", "next_at", "ending")
LIMIT_MOST = 1_000
_MOMENT = "a moment such as 2026-01-31T12:00:00Z, or a duration back from now such as 2d."


async def backfill(  # noqa: PLR0913 - an argument for each flag
    name: str,
    /,
    *,
    from_: Annotated[str, Parameter(name="--from", help=f"The first fire time: {_MOMENT}")],
    to: Annotated[str, Parameter(help=f"The last one, no later than now: {_MOMENT}")],
    priority: Annotated[int | None, Parameter(help="Of its jobs, 0 to 9; else the schedule's.")] = None,
    overlap: Annotated[
        Literal["allow", "skip", "queue_one"],
        Parameter(help="What if a job is unfinished: run beside it, skip the fire time, or wait."),
    ] = "allow",
    assent: Assent = ASKING,
    reason: Reason = None,
    flags: Flags = PLAIN,
) -> int:
    """Fire a schedule for each of its fire times in a range of the past, after telling how many they are."""
    trail = origin(reason)
    check_origin(trail)
    check_name("name", name)
    async with session(flags) as container:
        log, backfilling = container.event_log(), container.backfilling()
        first, last = await since("from", from_, log), await since("to", to, log)
        assert first is not None
        assert last is not None
        wanted = Wanted(from_at=first, to_at=last, priority=priority, overlap=Overlap(overlap))
        number = await backfilling.size(name, wanted)
        times = "1 fire time" if number == 1 else f"{number} fire times"
        say(f"{times} of schedule {name} from {instant(first)} to {instant(last)}")
        if assent.dry_run:
            emit_counted(flags, {"schedule": name, "fire_times": number})
        if not number or not assent.given(f"backfill {times}?"):
            return OK
        requested = await backfilling.backfill(name, wanted, trail)
    emit_one(flags.output, backfill_record(requested.backfill))
    return OK


async def backfills(
    name: str,
    /,
    *,
    limit: Annotated[int, Parameter(help="At most this many.")] = 100,
    flags: Flags = PLAIN,
) -> None:
    """List the backfills of a schedule and how far they are, newest first; also of one that was deleted."""
    check_name("name", name)
    check_integer("limit", limit, 1, LIMIT_MOST)
    async with session(flags) as container:
        found = await container.backfilling().list(name, limit=limit)
        if not found:
            await container.scheduling().get(name)
    emit_many(flags.output, map(backfill_record, found), COLUMNS)


async def stop_backfill(
    backfill_id: str,
    /,
    *,
    reason: Reason = None,
    flags: Flags = PLAIN,
) -> None:
    """Decide no further fire times of a backfill; jobs that are there stay."""
    trail = origin(reason)
    check_origin(trail)
    async with session(flags) as container:
        verdict = await container.backfilling().stop(backfill_id, trail)
    emit_one(flags.output, {"backfill_id": backfill_id, "verdict": verdict.value})
