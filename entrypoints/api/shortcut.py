"""The busiest request takes a shortcut: what the framework does around a route costs more than a submit."""

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from . import submits
from .guard import Guard

PATH = "/v1/jobs"


class Api(FastAPI):
    """An application whose ``POST /v1/jobs`` runs the same function as the route of that name, past all middleware.

    The guard and the handlers of exceptions apply as everywhere.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "POST":
            scope["app"] = self
            await _guarded(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


async def _submit(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope, receive)
    try:
        response = await _answer(request)
    except Exception as error:  # a fault of ours: said to the client, and raised for the server's log
        response = await scope["app"].exception_handlers[Exception](request, error)
        await response(scope, receive, send)
        raise
    await response(scope, receive, send)


async def _answer(request: Request) -> Response:
    try:
        return await submits.submit(request)
    except Exception as error:
        handlers = request.app.exception_handlers
        for kind in type(error).__mro__:
            if kind in handlers and kind is not Exception:
                expected: Response = await handlers[kind](request, error)
                return expected
        raise


_guarded = Guard(_submit)
