"""GET /v1/queues and POST /v1/queues/{name}/pause, resume."""

from fastapi import APIRouter, Request, Response

from ...domain.values import check_name
from ...domain.vocabulary import Verdict
from ..records import queue_record
from . import documents as doc
from . import render
from .bodies import json_object
from .caller import KEY, container, no_header, origin
from .fields import read
from .operations import REASON
from .query import checked, no_query

router = APIRouter()


@router.get("/queues", **doc.LIST_QUEUES)
async def list_queues(request: Request) -> Response:
    """Return all queues by name."""
    no_query(request)
    queues = await container(request).queue_store().list()
    return render.json_response({"items": [queue_record(queue) for queue in queues]})


@router.post("/queues/{name:path}/pause", **doc.PAUSE)
async def pause(request: Request) -> Response:
    """Stop claims from a queue; the answer comes when earlier claims are over."""
    return await _switch(request, pause=True)


@router.post("/queues/{name:path}/resume", **doc.RESUME)
async def resume(request: Request) -> Response:
    """Let claims go on."""
    return await _switch(request, pause=False)


async def _switch(request: Request, *, pause: bool) -> Response:
    no_header(request, "If-Match", "If-Unmodified-Since", KEY)
    name = checked("name", lambda: check_name("name", request.path_params["name"]))
    fields = read("", await json_object(request, optional=True), REASON)
    store = container(request).queue_store()
    change = store.pause if pause else store.resume
    verdict: Verdict = await change(name, origin(request, fields.get("reason")))
    return render.json_response({"queue": name, "verdict": verdict.value})
