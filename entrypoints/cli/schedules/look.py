"""`fencepost schedules list`, `show` and `firings`."""

from functools import partial
from typing import Annotated

from cyclopts import Parameter

from ....application.ports.schedule_store import LedgerFilter
from ....domain.errors import ScheduleUnreadable
from ....domain.facts import instant
from ....domain.firing import Outcome, Reason
from ....domain.schedule import coming, unreadable
from ....domain.values import check_integer, check_key, check_name
from ...records import entry_record, schedule_record
from ..flags import PLAIN, Flags
from ..inputs import moment
from ..output import chosen, emit_many, emit_one
from ..session import session
from ..terminal import say
from .lateness import CURE, overdue, with_lateness
from .views import TYPE, for_people, row, told

COLUMNS = ("name", "cron", "tz", "state", "next_fire_at", "late", "declared_by", "drifted")
FIRING_COLUMNS = ("fire_at", "until", "count", "outcome", "reason", "late", "origin", "job_id")
LIMIT_MOST = 1_000
SEVERAL = Parameter(help="May be given more than once.", negative=())
LAST = 5
"""Decisions that ``show`` tells."""


async def list_schedules(
    *,
    limit: Annotated[int, Parameter(help="At most this many.")] = 100,
    after: Annotated[str, Parameter(help="Only names behind this one: the next page.")] = "",
    flags: Flags = PLAIN,
) -> None:
    """List schedules by name; those that nobody can read are told of beside."""
    check_integer("limit", limit, 1, LIMIT_MOST)
    async with session(flags) as container:
        now = await container.event_log().clock()
        page = await container.scheduling().list(after=after, limit=limit)
    readable = [schedule for schedule in page if schedule.fault is None]
    shown = partial(row, now=now) if chosen(flags.output) == "table" else schedule_record
    emit_many(flags.output, map(shown, readable), COLUMNS, TYPE)
    for schedule in page:
        if schedule.fault is not None:
            say(f"error: {ScheduleUnreadable(schedule.name, schedule.fault)}")
    if late := sum(overdue(schedule, now) != "" for schedule in readable):
        say(f"late schedules: {late} ({CURE})")
    if len(page) == limit:
        say(f"there may be more: --after {page[-1].name}")


async def show(
    name: str,
    /,
    *,
    number: Annotated[int, Parameter(name=("-n", "--number"), help="How many of the next fire times.")] = 5,
    flags: Flags = PLAIN,
) -> None:
    """Show a schedule, when it fires next and what was decided last."""
    check_name("name", name)
    check_integer("n", number, 1, LIMIT_MOST)
    async with session(flags) as container:
        schedule = await container.scheduling().get(name)
        last = await container.scheduling().firings(name, limit=LAST)
    timing = schedule.definition.timing
    fires = unreadable(timing) is None
    record = told(schedule) | {
        "words": timing.recurrence.words() if fires else None,
        "next_fire_times": [instant(time) for time in coming(schedule, number)] if fires else [],
        "last_firings": [entry_record(entry) for entry in last[:LAST]],
    }
    emit_one(flags.output, record, for_people(record))


async def firings(
    name: str,
    /,
    *,
    before: Annotated[
        str | None, Parameter(help="Only fire times before this moment: the next page.")
    ] = None,
    outcome: Annotated[tuple[Outcome, ...] | None, SEVERAL] = None,
    reason: Annotated[tuple[Reason, ...] | None, SEVERAL] = None,
    origin: Annotated[str | None, Parameter(help="cron, or the origin of one trigger or backfill.")] = None,
    limit: Annotated[int, Parameter(help="At most this many.")] = 50,
    flags: Flags = PLAIN,
) -> None:
    """Show what was decided about each fire time, newest first; also of a schedule that was deleted."""
    check_name("name", name)
    check_integer("limit", limit, 1, LIMIT_MOST)
    earlier_than = moment("before", before)
    where = LedgerFilter(
        outcomes=frozenset(outcome) if outcome else None,
        reasons=frozenset(reason) if reason else None,
        origin=None if origin is None else check_key("origin", origin),
    )
    async with session(flags) as container:
        page = await container.scheduling().firings(name, where, before=earlier_than, limit=limit)
        if not page:
            await container.scheduling().check_known(name)
    records = map(entry_record, page)
    is_table = chosen(flags.output) == "table"
    emit_many(flags.output, map(with_lateness, records) if is_table else records, FIRING_COLUMNS)
    if len(page) >= limit:
        say(f"there may be more: --before {instant(page[-1].firing.fire_at)}")
