"""GET /v1/jobs, /v1/jobs/{id} and /v1/jobs/{id}/events."""

import re

from fastapi import APIRouter, Request, Response

from ...application.ports.job_reader import JobFilter
from ...domain.errors import JobNotFound
from ...domain.values import check_name
from ...domain.vocabulary import State
from ..records import event_record, job_record
from . import documents as doc
from . import render
from .caller import container
from .cursors import cursor, position
from .query import BIGINT_MAX, Query, no_query

router = APIRouter()
PAGE, PAGE_MOST = 100, 500
FILTERS = ("state", "queue", "type", "schedule", "dismissed", "submitted_from", "submitted_before")


@router.get("/jobs", **doc.LIST_JOBS)
async def list_jobs(request: Request) -> Response:
    """Return jobs newest first."""
    query = Query(request, (*FILTERS, "limit", "cursor"), repeatable=("state",))
    where, mark = _filter(query)
    limit = query.integer("limit", 1, PAGE_MOST) or PAGE
    given = query.text("cursor")
    below = None if given is None else position(given, mark)
    found = await container(request).job_reader().page(where, below=below, limit=limit + 1)
    if not found and where.schedule is not None:
        await container(request).scheduling().check_known(where.schedule)
    page = found[:limit]
    following = cursor(page[-1].job_id, mark) if len(found) > limit else None
    return render.json_response({"items": [job_record(job) for job in page], "next": following})


@router.get("/jobs/{job_id}", **doc.GET_JOB)
async def get_job(request: Request) -> Response:
    """Return one job; its ETag is the seq of its last event."""
    no_query(request)
    job_id = path_job_id(request)
    job = await container(request).job_reader().get(job_id)
    if job is None:
        raise JobNotFound(f"there is no job {job_id}")
    headers = {"ETag": f'"{job.seq}"', "Cache-Control": "no-cache"}
    if _matches(request.headers.getlist("if-none-match"), job.seq):
        return Response(status_code=304, headers=headers)
    return render.json_response(render.job(job), headers=headers)


@router.get("/jobs/{job_id}/events", **doc.JOB_EVENTS)
async def job_events(request: Request) -> Response:
    """Return a job's history, and beside it what was noted about the job without changing it."""
    no_query(request)
    job_id = path_job_id(request)
    log = container(request).event_log()
    history = await log.history(job_id)
    if not history:
        raise JobNotFound(f"there is no job {job_id}")
    beside = await log.evidence(job_id)
    return render.json_response(
        {
            "events": [render.event(event) for event in history],
            "evidence": [event_record(event) for event in beside],
        }
    )


def path_job_id(request: Request) -> int:
    """Return the job id in the path; what cannot be one names no job. Raises JobNotFound."""
    text = request.path_params["job_id"]
    if not re.fullmatch(r"[0-9]{1,19}", text) or not 0 < int(text) <= BIGINT_MAX:
        raise JobNotFound("there is no such job")
    return int(text)


def _filter(query: Query) -> tuple[JobFilter, object]:
    """Return the filter, and what its cursors are bound to."""
    where = JobFilter(
        states=query.choices("state", State),
        queue=query.text("queue"),
        type=query.text("type"),
        schedule=query.read("schedule", check_name),
        dismissed=query.switch("dismissed"),
        submitted_from=query.moment("submitted_from"),
        submitted_before=query.moment("submitted_before"),
    )
    mark = [sorted(where.states or ()), where.queue, where.type, where.schedule, where.dismissed]
    return where, [*mark, where.submitted_from, where.submitted_before]


def _matches(tags: list[str], seq: int) -> bool:
    """Compare weakly, as RFC 9110 asks of If-None-Match."""
    given = {tag.strip().removeprefix("W/") for tag in ",".join(tags).split(",")}
    return not given.isdisjoint({"*", f'"{seq}"'})
