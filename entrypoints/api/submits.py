"""POST /v1/jobs and /v1/jobs/batch."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from ...application.ports.submitter import Submitted
from ...application.submitting import SubmitRequest
from ...domain.errors import InvalidInput, InvalidItem
from ...domain.limits import BATCH_JOBS
from . import documents as doc
from .bodies import BATCH_BYTES, json_object
from .caller import KEY, container, no_header, origin, replayed, submit_key
from .fields import json_list, read, switch
from .problems import invalid_body
from .render import json_response
from .requests import ITEM, SINGLE, submit_request

router = APIRouter()


@router.post("/jobs", **doc.SUBMIT)
async def submit(request: Request) -> Response:
    """Accept one job."""
    key = submit_key(request)
    job = submit_request(await json_object(request), SINGLE, key=key)
    answer = await container(request).submitting().submit(job, origin(request))
    headers = {"Location": f"/v1/jobs/{answer.job_id}", **replayed(is_new=key is None or answer.created)}
    return json_response(_answered(answer), 201 if answer.created else 200, headers)


@router.post("/jobs/batch", **doc.SUBMIT_MANY)
async def submit_many(request: Request) -> Response:
    """Accept many jobs, all or nothing unless ``partial``."""
    no_header(request, KEY)
    body = await json_object(request, most=BATCH_BYTES, depth=-2)
    fields = read("", body, {"jobs": _items, "partial": switch}, ("jobs",))
    items = [_parsed(index, item) for index, item in enumerate(fields["jobs"])]
    answers: Sequence[Submitted | InvalidItem]
    if fields.get("partial", False):
        answers = await _submit_good(request, items)
    else:
        good = [_good(item) for item in items]
        answers = await container(request).submitting().submit_many(good, origin(request))
    created = any(isinstance(answer, Submitted) and answer.created for answer in answers)
    return json_response({"jobs": [_answered(answer) for answer in answers]}, 201 if created else 200)


def _items(field: str, value: object) -> list[Any]:
    items = json_list(field, value)
    if not 1 <= len(items) <= BATCH_JOBS:
        raise InvalidInput(field, f"must hold 1 to {BATCH_JOBS} jobs")
    return items


def _parsed(index: int, item: object) -> SubmitRequest | InvalidItem:
    try:
        return submit_request(item, ITEM)
    except InvalidInput as error:
        return InvalidItem(index, error)


def _good(item: SubmitRequest | InvalidItem) -> SubmitRequest:
    if isinstance(item, InvalidItem):
        raise item
    return item


async def _submit_good(
    request: Request, items: Sequence[SubmitRequest | InvalidItem]
) -> list[Submitted | InvalidItem]:
    """Submit what could be read; what could not be read, or breaks a rule, is answered with its error."""
    places = [index for index, item in enumerate(items) if isinstance(item, SubmitRequest)]
    good = [item for item in items if isinstance(item, SubmitRequest)]
    answers: dict[int, Submitted | InvalidItem] = {
        item.index: item for item in items if isinstance(item, InvalidItem)
    }
    stored = await container(request).submitting().submit_partial(good, origin(request))
    for index, answer in zip(places, stored, strict=True):
        answers[index] = _moved(index, answer) if isinstance(answer, InvalidItem) else answer
    return [answers[index] for index in range(len(items))]


def _moved(index: int, item: InvalidItem) -> InvalidItem:
    """Return the item's error at its place in the whole batch."""
    item.path = (index, *item.path[1:])
    return item


def _answered(answer: Submitted | InvalidItem) -> dict[str, Any]:
    if isinstance(answer, Submitted):
        return {"job_id": answer.job_id, "created": answer.created}
    return {"errors": [fault.describe() for fault in invalid_body(answer).faults]}
