"""GET /v1/schedules and what lies below it; POST /v1/schedules/preview."""

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from fastapi import APIRouter, Request, Response

from ....application.ports.schedule_store import LedgerFilter
from ....domain.facts import instant
from ....domain.firing import Outcome, Reason, due_at
from ....domain.recurrence import Dst, recurrence
from ....domain.schedule import Schedule, fire_times
from ....domain.values import check_key, check_moment, check_name
from ....domain.zones import TZ_VERSION, zone
from ...records import entry_record, fire_time_record, schedule_state, unreadable_record
from ..bodies import json_object
from ..caller import container
from ..cursors import cursor, opened
from ..fields import read
from ..query import Query, no_query
from ..render import json_response
from . import documents as doc
from .answers import listed, shown
from .requests import PREVIEW, TIMES, TIMES_MOST, ends_the_name, path_name

router = APIRouter()
PAGE, PAGE_MOST = 100, 500
PAGED = ("limit", "cursor")
LEDGER = ("outcome", "reason", "origin")
_MICROSECOND = timedelta(microseconds=1)


@router.get("/schedules", **doc.LIST)
async def list_schedules(request: Request) -> Response:
    """Return schedules by name, those that nobody can read apart from the others."""
    query, mark = Query(request, PAGED), ["schedules"]
    limit = query.integer("limit", 1, PAGE_MOST) or PAGE
    given = query.text("cursor")
    after = "" if given is None else opened(given, mark, str, lambda name: check_name("cursor", name))
    found = await container(request).scheduling().list(after=after, limit=limit + 1)
    page = found[:limit]
    following = cursor(page[-1].name, mark) if len(found) > limit else None
    items = [listed(one) for one in page if one.fault is None]
    unreadable = [unreadable_record(one) for one in page if one.fault is not None]
    return json_response({"items": items, "unreadable": unreadable, "next": following})


@router.get("/schedules/{name:path}/next", **doc.NEXT)
async def upcoming(request: Request) -> Response:
    """Return the next fire times of a schedule; of one that is paused, those it would have if it were resumed now."""
    if ends_the_name(request, "next"):
        return await _one(request, path_name(request, "/next"))
    query, name = Query(request, ("number",)), path_name(request)
    number = query.integer("number", 1, TIMES_MOST) or TIMES
    schedule = await container(request).scheduling().get(name)
    timing = schedule.definition.timing
    place = zone("tz", timing.tz)
    times = await _first(number, fire_times(timing, await _decided_until(request, schedule)))
    told = [
        {**fire_time_record(time, place), "due_at": instant(due_at(name, timing, time))} for time in times
    ]
    return json_response(
        {
            "schedule": name,
            "version": schedule.version,
            "state": schedule_state(schedule),
            "words": timing.recurrence.words(),
            "tz": timing.tz,
            "tz_version": TZ_VERSION,
            "times": told,
        }
    )


@router.get("/schedules/{name:path}/firings", **doc.FIRINGS)
async def firings(request: Request) -> Response:
    """Return the ledger, newest fire time first; it is there after its schedule was deleted, too.

    All firings of one moment are on one page, which they may make longer.
    """
    if ends_the_name(request, "firings"):
        return await _one(request, path_name(request, "/firings"))
    query, name = Query(request, (*LEDGER, *PAGED), repeatable=("outcome", "reason")), path_name(request)
    limit, where = query.integer("limit", 1, PAGE_MOST) or PAGE, _ledger_filter(query)
    mark = ["firings", name, sorted(where.outcomes or ()), sorted(where.reasons or ()), where.origin]
    given = query.text("cursor")
    before = (
        None if given is None else opened(given, mark, datetime, lambda last: check_moment("cursor", last))
    )
    scheduling = container(request).scheduling()
    found = await scheduling.firings(name, where, before=before, limit=limit + 1)
    if not found:
        await scheduling.check_known(name)
    if len(found) <= limit:
        return json_response({"items": [entry_record(one) for one in found], "next": None})
    last = found[limit - 1].firing.fire_at
    page = [entry_record(one) for one in found if one.firing.fire_at >= last]
    return json_response({"items": page, "next": cursor(last, mark)})


@router.get("/schedules/{name:path}", **doc.GET)
async def get_schedule(request: Request) -> Response:
    """Return one schedule."""
    return await _one(request, path_name(request))


@router.post("/schedules/preview", **doc.PREVIEW)
async def preview(request: Request) -> Response:
    """Return the fire times of an expression; no database is asked."""
    fields = read("", await json_object(request), PREVIEW, ("cron",))
    after = fields.get("from") or container(request).time().wall()
    tz = fields.get("tz", "UTC")
    found = recurrence(fields["cron"], tz, fields.get("dst", Dst.VIXIE), starts_at=after)
    place = zone("tz", tz)
    times = await _first(fields.get("number", TIMES), found.times(after))
    return json_response(
        {
            "cron": found.expression,
            "words": found.words(),
            "tz": tz,
            "tz_version": TZ_VERSION,
            "times": [fire_time_record(time, place) for time in times],
        }
    )


def _ledger_filter(query: Query) -> LedgerFilter:
    return LedgerFilter(
        outcomes=query.choices("outcome", Outcome),
        reasons=query.choices("reason", Reason),
        origin=query.read("origin", check_key),
    )


async def _one(request: Request, name: str) -> Response:
    no_query(request)
    return shown(await container(request).scheduling().get(name))


async def _decided_until(request: Request, schedule: Schedule) -> datetime:
    """Return a moment; the fire times after it have no decision yet."""
    if schedule.next_fire_at is not None:
        return schedule.next_fire_at - _MICROSECOND
    return await container(request).event_log().clock()


async def _first(number: int, times: Iterator[datetime]) -> list[datetime]:
    """Return the first fire times, found in a thread: a thousand rare ones take a third of a second."""
    return await asyncio.to_thread(lambda: list(islice(times, number)))
