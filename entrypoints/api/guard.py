"""What every request meets first: its id, and the walls around an API that knows no tokens yet."""

import re
import uuid
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .problems import Code, Problem, invalid_header

REQUEST_ID = "X-Request-Id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_PORT = re.compile(r":[0-9]*\Z")


class Guard:
    """Refuses hosts and origins that are not this machine's loopback; answers HEAD as GET without a body.

    A page on the internet may point its own name at 127.0.0.1 (DNS rebinding) or send a request straight there; the
    Host and Origin headers give both away.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before ``app``."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = str(uuid.uuid4())
        answer: ASGIApp = self.app
        try:
            _check_addressee(headers)
            request_id = _given_id(headers) or request_id
        except Problem as problem:
            answer = problem.response(request_id)
        scope.setdefault("state", {})["request_id"] = request_id
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}  # the server knows the real one, and leaves the body out
        await answer(scope, receive, _stamping(send, request_id))


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _check_addressee(headers: Headers) -> None:
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not is_loopback(_without_port(hosts[0])):
        raise Problem(Code.MISDIRECTED_REQUEST)
    origins = headers.getlist("origin")
    if origins and not _is_ours(origins):
        raise Problem(Code.CROSS_SITE)


def _is_ours(origins: Sequence[str]) -> bool:
    try:
        parts = urlsplit(origins[0])
        return len(origins) == 1 and parts.scheme in ("http", "https") and is_loopback(parts.hostname or "")
    except ValueError:
        return False


def _without_port(host: str) -> str:
    name = _PORT.sub("", host) if host.endswith("]") or host.count(":") == 1 or "]:" in host else host
    return name[1:-1] if name.startswith("[") and name.endswith("]") else name


def _given_id(headers: Headers) -> str | None:
    given = headers.getlist(REQUEST_ID)
    if not given:
        return None
    if len(given) > 1 or not _REQUEST_ID.fullmatch(given[0]):
        raise invalid_header(REQUEST_ID, f"must be given once and match {_REQUEST_ID.pattern}")
    return given[0]


def _stamping(send: Send, request_id: str) -> Send:
    async def stamp(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = request_id
            headers.setdefault("Cache-Control", "no-store")
            headers["X-Content-Type-Options"] = "nosniff"
        await send(message)

    return stamp
