"""POST, PUT and DELETE /v1/schedules; POST /v1/schedules/{name}/pause, resume and trigger."""

from attrs import evolve
from fastapi import APIRouter, Request, Response

from ...records import firing_record
from ..bodies import json_object
from ..caller import KEY, container, no_header, origin, replayed, submit_key
from ..fields import read
from ..operations import REASON
from ..preconditions import IF_MATCH, expected_version
from ..render import json_response
from . import documents as doc
from .answers import address, shown
from .requests import CREATE, REPLACE, TRIGGER, definition, path_name

router = APIRouter()
UNSUPPORTED = ("If-None-Match", "If-Unmodified-Since")
DEPTH = -1
"""Of the body: the payload of its job lies one level deeper than that of a job that is submitted."""


@router.post("/schedules", **doc.CREATE)
async def create(request: Request) -> Response:
    """Create a schedule; the one that is there is the answer when it is defined alike.

    A key would promise more: that the answer stays the same after somebody else has changed the schedule.
    """
    no_header(request, IF_MATCH, *UNSUPPORTED, KEY)
    fields = read("", await json_object(request, depth=DEPTH), CREATE, ("name", "cron", "job"))
    name, wanted, scheduling = fields["name"], definition(fields), container(request).scheduling()
    created = await scheduling.create(name, wanted, origin(request, fields.get("reason")))
    return shown(created.schedule, 201 if created.is_new else 200, {"Location": address(name)})


@router.put("/schedules/{name:path}", **doc.REPLACE)
async def replace(request: Request) -> Response:
    """Replace a schedule's definition."""
    no_header(request, *UNSUPPORTED, KEY)
    name, version = path_name(request), expected_version(request)
    fields = read("", await json_object(request, depth=DEPTH), REPLACE, ("cron", "job"))
    by = origin(request, fields.get("reason"))
    return shown(await container(request).scheduling().edit(name, definition(fields), by, version=version))


@router.delete("/schedules/{name:path}", **doc.DELETE)
async def delete(request: Request) -> Response:
    """Remove a schedule; its ledger stays."""
    no_header(request, *UNSUPPORTED, KEY)
    name, version = path_name(request), expected_version(request)
    fields = read("", await json_object(request, optional=True), REASON)
    by = origin(request, fields.get("reason"))
    await container(request).scheduling().delete(name, by, version=version)
    return Response(status_code=204)


@router.post("/schedules/{name:path}/pause", **doc.PAUSE)
async def pause(request: Request) -> Response:
    """Stop firing."""
    return await _switch(request, pause=True)


@router.post("/schedules/{name:path}/resume", **doc.RESUME)
async def resume(request: Request) -> Response:
    """Fire again, from now on."""
    return await _switch(request, pause=False)


@router.post("/schedules/{name:path}/trigger", **doc.TRIGGER)
async def trigger(request: Request) -> Response:
    """Fire now: once for each submit key, or else for each request id."""
    no_header(request, IF_MATCH, *UNSUPPORTED)
    name, key = path_name(request), submit_key(request)
    fields = read("", await json_object(request, optional=True), TRIGGER)
    by = origin(request, fields.pop("reason", None))
    operation = by if key is None else evolve(by, request_id=key)
    triggered = await container(request).scheduling().trigger(name, operation, **fields)
    content = {"schedule": name, **firing_record(triggered.firing)}
    return json_response(content, headers=replayed(is_new=triggered.is_new))


async def _switch(request: Request, *, pause: bool) -> Response:
    no_header(request, IF_MATCH, *UNSUPPORTED, KEY)
    name = path_name(request)
    fields = read("", await json_object(request, optional=True), REASON)
    scheduling = container(request).scheduling()
    change = scheduling.pause if pause else scheduling.resume
    verdict = await change(name, origin(request, fields.get("reason")))
    return json_response({"schedule": name, "verdict": verdict.value})
