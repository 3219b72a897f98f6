"""The ASGI application."""

import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from dependency_injector import providers
from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from ... import __version__
from ...domain.errors import FencepostError
from ..container import Container, closed
from ..schema import missing
from . import caller, events, health, jobs, operations, queues, schemas, submits
from .gathering import gathering
from .guard import REQUEST_ID, Guard
from .problems import BY_STATUS, Code, Problem, problem_of
from .schedules import backfills as schedule_backfills
from .schedules import changes as schedule_changes
from .schedules import reading as schedule_reading
from .schedules.backfill_documents import MODELS as BACKFILL_MODELS
from .schedules.schemas import MODELS as SCHEDULE_MODELS
from .shortcut import Api

ABOUT = (
    "Submit jobs, look at them and their history, operate on them. Times come as RFC 3339 in UTC with microseconds, "
    "durations in seconds. Unknown fields and parameters are refused. Reached from this machine only."
)
WHERE = "The API lies under /v1; /openapi.json describes it."
logger = logging.getLogger("fencepost.api")
V1 = (submits, jobs, operations, queues, events, schedule_changes, schedule_backfills, schedule_reading)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]


def create_app(container: Container, *, owned: bool = True) -> FastAPI:
    """Return the API over a container; unless it is ``owned``, its connections are left open at the end.

    Nothing connects before the first request: the API starts, and says what is wrong, while the database is away.
    """
    app = Api(
        title="Fencepost",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_closing(container) if owned else None,
        exception_handlers=_HANDLERS,
    )
    container.principal.override(providers.Object(caller.ACTOR))
    container.submitting.set_args(gathering(container), container.principal)
    container.submitting.reset()
    app.state.container = container
    app.state.readiness = health.Readiness(container)
    for module in V1:
        app.include_router(module.router, prefix="/v1")
    app.include_router(health.router)
    app.add_middleware(Guard)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


def _closing(container: Container) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await closed(container)

    return lifespan


async def _on_problem(request: Request, error: Problem) -> Response:
    return error.response(caller.request_id(request))


async def _on_refusal(request: Request, error: FencepostError) -> Response:
    return problem_of(error).response(caller.request_id(request))


async def _on_http(request: Request, error: HTTPException) -> Response:
    code = BY_STATUS.get(error.status_code, Code.INVALID_REQUEST)
    headers = _allowed(request) if code is Code.METHOD_NOT_ALLOWED else error.headers
    problem = Problem(code, WHERE if code is Code.NOT_FOUND else None, headers=headers)
    return problem.response(caller.request_id(request))


def _allowed(request: Request) -> dict[str, str]:
    """Name all methods that a path takes, where the framework names those of one route; HEAD is taken as GET is."""
    taken = ", ".join(method for method in METHODS if _is_taken({**request.scope, "method": method}))
    return {"Allow": taken.replace("GET", "GET, HEAD")}


def _is_taken(scope: Scope) -> bool:
    routes: Sequence[BaseRoute] = scope["app"].routes
    return any(route.matches(scope)[0] is Match.FULL for route in routes)


async def _on_bug(request: Request, error: Exception) -> Response:
    """Answer for a fault of ours: what it was is in the log, under the request's id, and never in the answer."""
    code, request_id = (
        Code.SCHEMA_PENDING if missing(error) else Code.INTERNAL_ERROR,
        caller.request_id(request),
    )
    response = Problem(code).response(request_id)
    response.headers[REQUEST_ID] = request_id
    logger.error("request %s failed", request_id)
    return response


_HANDLERS: dict[int | type[Exception], Handler] = {
    Problem: _on_problem,
    FencepostError: _on_refusal,
    HTTPException: _on_http,
    Exception: _on_bug,
}


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        document["components"] = {"schemas": schemas.components(*SCHEDULE_MODELS, *BACKFILL_MODELS)}
        app.openapi_schema = document
    return app.openapi_schema
