"""POST /v1/schedules/{name}/backfill; GET /v1/schedules/{name}/backfills; POST /v1/backfills/{backfill_id}/stop."""

from collections.abc import Mapping

from attrs import evolve
from fastapi import APIRouter, Request, Response

from ....domain.backfill import Wanted
from ....domain.schedule import Overlap
from ....domain.values import check_priority
from ...backfill_records import backfill_record
from ..bodies import json_object
from ..caller import KEY, container, no_header, origin, replayed, submit_key
from ..fields import Reader, choice, nullable, read, switch
from ..moments import moment
from ..operations import REASON
from ..preconditions import IF_MATCH
from ..query import Query, no_query
from ..render import json_response
from . import backfill_documents as doc
from .answers import shown
from .changes import UNSUPPORTED
from .reading import PAGE, PAGE_MOST
from .requests import ends_the_name, path_name

router = APIRouter()
BACKFILL: Mapping[str, Reader] = {
    "from": moment,
    "to": moment,
    "priority": nullable(check_priority),
    "overlap": choice(Overlap),
    "dry_run": switch,
    **REASON,
}


@router.post("/schedules/{name:path}/backfill", **doc.BACKFILL)
async def backfill(request: Request) -> Response:
    """Fire for each fire time of a range: once for each submit key, or else for each request id."""
    no_header(request, IF_MATCH, *UNSUPPORTED)
    name, key = path_name(request), submit_key(request)
    fields = read("", await json_object(request), BACKFILL, ("from", "to"))
    by = origin(request, fields.pop("reason", None))
    dry_run, backfilling = fields.pop("dry_run", False), container(request).backfilling()
    wanted = Wanted(from_at=fields.pop("from"), to_at=fields.pop("to"), **fields)
    if dry_run:
        return json_response({"schedule": name, "fire_times": await backfilling.size(name, wanted)})
    operation = by if key is None else evolve(by, request_id=key)
    requested = await backfilling.backfill(name, wanted, operation)
    return json_response(backfill_record(requested.backfill), 202, replayed(is_new=requested.is_new))


@router.get("/schedules/{name:path}/backfills", **doc.BACKFILLS)
async def backfills(request: Request) -> Response:
    """Return the backfills of a schedule, newest first; of one that was deleted, too."""
    if ends_the_name(request, "backfills"):
        no_query(request)
        return shown(await container(request).scheduling().get(path_name(request, "/backfills")))
    name = path_name(request)
    limit = Query(request, ("limit",)).integer("limit", 1, PAGE_MOST) or PAGE
    found = await container(request).backfilling().list(name, limit=limit)
    if not found:
        await container(request).scheduling().get(name)
    return json_response({"items": [backfill_record(one) for one in found]})


@router.post("/backfills/{backfill_id}/stop", **doc.STOP)
async def stop(request: Request) -> Response:
    """Decide no further fire times."""
    no_header(request, IF_MATCH, *UNSUPPORTED, KEY)
    fields = read("", await json_object(request, optional=True), REASON)
    backfill_id = request.path_params["backfill_id"]
    verdict = await container(request).backfilling().stop(backfill_id, origin(request, fields.get("reason")))
    return json_response({"backfill_id": backfill_id, "verdict": verdict.value})
