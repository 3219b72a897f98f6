"""POST /v1/jobs/{id}/cancel, requeue, revoke, dismiss and PATCH /v1/jobs/{id}.

If-Match is refused: the store applies a command to whatever state the job has when its row is locked, so a check
before it would promise more than it keeps. The rules of the states guard every operation anyway.
"""

from collections.abc import Collection, Mapping

from fastapi import APIRouter, Request, Response

from ...domain import commands as c
from ...domain.errors import InvalidInput
from ...domain.limits import PAYLOAD_BYTES
from ...domain.values import check_name, check_priority, encode
from . import documents as doc
from .bodies import json_object
from .caller import KEY, container, no_header, origin, reason
from .fields import Reader, read, switch
from .fields import json_object as json_value
from .jobs import path_job_id
from .moments import moment
from .render import json_response

router = APIRouter()


def payload(field: str, value: object) -> str:
    """Read a payload as the JSON text that is stored; raises InvalidInput."""
    return encode(field, json_value(field, value), PAYLOAD_BYTES)


REASON: Mapping[str, Reader] = {"reason": reason}
REQUEUE: Mapping[str, Reader] = {**REASON, "payload": payload, "fresh_effect_key": switch}
REVOKE: Mapping[str, Reader] = {**REASON, "cancel": switch}
EDIT: Mapping[str, Reader] = {
    **REASON,
    "run_at": moment,
    "priority": check_priority,
    "queue": check_name,
    "payload": payload,
}


@router.post("/jobs/{job_id}/cancel", **doc.CANCEL)
async def cancel(request: Request) -> Response:
    """Cancel a pending job, or ask a running one to stop."""
    return await _operate(request, c.Cancel, REASON)


@router.post("/jobs/{job_id}/requeue", **doc.REQUEUE)
async def requeue(request: Request) -> Response:
    """Put a finished job back."""
    return await _operate(request, c.Requeue, REQUEUE)


@router.post("/jobs/{job_id}/revoke", **doc.REVOKE)
async def revoke(request: Request) -> Response:
    """End a lease at once, by force."""
    return await _operate(request, c.Revoke, REVOKE)


@router.post("/jobs/{job_id}/dismiss", **doc.DISMISS)
async def dismiss(request: Request) -> Response:
    """Hide a dead job from the worklist."""
    return await _operate(request, c.Dismiss, REASON)


@router.patch("/jobs/{job_id}", **doc.EDIT)
async def edit(request: Request) -> Response:
    """Change a pending job."""
    return await _operate(request, c.Edit, EDIT, one_of=EDIT.keys() - REASON.keys())


async def _operate(
    request: Request,
    operation: type[c.Operation],
    readers: Mapping[str, Reader],
    one_of: Collection[str] = (),
) -> Response:
    no_header(request, "If-Match", "If-Unmodified-Since", KEY)
    job_id = path_job_id(request)
    fields = read("", await json_object(request, optional=not one_of), readers)
    if one_of and not fields.keys() & one_of:
        raise InvalidInput("", f"must name at least one of {', '.join(sorted(one_of))}")
    command = operation(origin=origin(request, fields.pop("reason", None)), **fields)
    verdict = await container(request).operating().one(job_id, command)
    return json_response({"job_id": job_id, "verdict": verdict.value})
