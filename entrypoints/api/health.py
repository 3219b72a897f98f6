"""GET /livez and /readyz."""

import asyncio

from fastapi import APIRouter, Request, Response

from ...domain.errors import Unavailable
from ..container import Container
from . import documents as doc
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
    await request.app.state.readiness.check()
    return json_response({"ok": True})


class Readiness:
    """Looks at the database, one look at a time.

    A look at a database that hangs takes as long as the driver takes to give up; it is left alone to end by itself, so
    that answers come in time and impatient probes do not use up the connections.
    """

    def __init__(self, container: Container) -> None:
        """Know nothing yet."""
        self._container = container
        self._look: asyncio.Task[None] | None = None
        self._schema_ready = False

    async def check(self) -> None:
        """Raise Problem unless requests can be served."""
        if self._look is None or self._look.done():
            self._look = asyncio.create_task(self._look_once())
        done, _ = await asyncio.wait({self._look}, timeout=ANSWER_SECONDS)
        if not done:
            raise Problem(Code.DATABASE_UNAVAILABLE)
        await self._look

    async def _look_once(self) -> None:
        """Look at the schema until it is up to date once: schemas do not go back."""
        try:
            await self._container.event_log().clock()
            if self._schema_ready:
                return
            if await asyncio.to_thread(self._container.pending_migrations):
                raise Problem(Code.SCHEMA_PENDING, "Run `fencepost db migrate`.")
        except (TimeoutError, Unavailable) as error:
            raise Problem(Code.DATABASE_UNAVAILABLE) from error
        self._schema_ready = True
