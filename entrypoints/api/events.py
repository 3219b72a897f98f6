"""GET /v1/events: the global log, as pages or as NDJSON.

Positions are handed out before their transactions commit, so the newest events may appear out of order: read it as a
record, not as a feed to follow.
"""

from collections.abc import AsyncIterator

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse

from ...application.ports.event_log import EventLog, LogFilter
from ..records import event_record
from . import documents as doc
from . import render
from .caller import container
from .query import Query

router = APIRouter()
PAGE, PAGE_MOST = 100, 500
NDJSON = "application/x-ndjson"
FILTERS = ("name", "actor", "job_id", "subject", "since", "after", "limit")


@router.get("/events", **doc.LIST_EVENTS)
async def list_events(request: Request) -> Response:
    """Return events by position; as NDJSON all of them, unless ``limit`` says otherwise."""
    query = Query(request, FILTERS, repeatable=("name",))
    where = LogFilter(
        names=frozenset(query.all("name")) or None,
        actor=query.text("actor"),
        job_id=query.integer("job_id", 1),
        subject=query.text("subject"),
        since=query.moment("since"),
    )
    after = query.integer("after", 0) or 0
    limit = query.integer("limit", 1, PAGE_MOST)
    log = container(request).event_log()
    if NDJSON in request.headers.get("accept", ""):
        lines = _lines(log, where, after, limit)
        first = await anext(lines)
        return StreamingResponse(_from(first, lines), media_type=NDJSON)
    events = await log.page(where, after=after, limit=limit or PAGE)
    following = events[-1].position if len(events) == (limit or PAGE) else None
    return render.json_response({"items": [event_record(event) for event in events], "next_after": following})


async def _lines(log: EventLog, where: LogFilter, after: int, limit: int | None) -> AsyncIterator[bytes]:
    """Yield the log page by page, at least one, up to the page that is not full."""
    while True:
        events = await log.page(where, after=after, limit=limit or PAGE_MOST)
        yield render.lines([event_record(event) for event in events])
        if limit is not None or len(events) < PAGE_MOST:
            return
        after = events[-1].position or after


async def _from(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the page that was asked for before the answer began, so that its errors are still problems."""
    yield first
    async for lines in rest:
        yield lines
