"""GET /livez and /readyz."""

import asyncio

from fastapi import APIRouter, Request, Response

from ...domain.errors import Unavailable
from . import documents as doc
from .caller import container
from .problems import Code, Problem
from .render import json_response

router = APIRouter()
ANSWER_SECONDS = 2.0


@router.get("/livez", **doc.LIVEZ)
async def livez() -> Response:
    """Answer without touching the database: a database that is away is no reason to restart this process."""
    return json_response({"ok": True})


@router.get("/readyz", **doc.READYZ)
async def readyz(request: Request) -> Response:
    """Answer 503 while the database is away or its schema is not up to date."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await container(request).event_log().clock()
            await _check_schema(request)
    except (TimeoutError, Unavailable) as error:
        raise Problem(Code.DATABASE_UNAVAILABLE) from error
    return json_response({"ok": True})


async def _check_schema(request: Request) -> None:
    """Look at the schema until it is up to date once: schemas do not go back."""
    if request.app.state.schema_ready:
        return
    if await asyncio.to_thread(container(request).pending_migrations):
        raise Problem(Code.SCHEMA_PENDING, "Run `fencepost db migrate`.")
    request.app.state.schema_ready = True
