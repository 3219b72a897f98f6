"""The server's own refusals as problems: what is not proper HTTP never reaches the application."""

import asyncio
import re

import httptools
import msgspec
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from .bodies import DISCARDED_BYTES
from .problems import MEDIA_TYPE, Code, Problem

SILENT_BYTES = 64 * 1024
"""Bytes that may arrive without ending a head or bringing any of a body; up to twice as many when they come at once."""
_TARGET = re.compile(rb"/[!\"$-~]*")
_VERSIONS = ("1.1", "1.0")
_INVALID = "Invalid HTTP request received."


class _Improper(Exception):
    """Proper syntax that HTTP nevertheless forbids, or that nobody needs."""


class ProblemProtocol(HttpToolsProtocol):
    """HTTP/1.1 by llhttp, and what it is too generous about: targets, Host, versions, sizes, trailers.

    A connection without a request under way is closed when it falls silent, also before its first request, and when
    more arrives of a body that was answered unread than is thrown away for politeness.
    """

    _unread = 0
    _silent = 0
    _in_head = False
    _in_message = False
    _ended = False
    _running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base
        """Wait for a request, but not for ever."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take bytes in; those of a body that is already answered are counted and thrown away."""
        for start in range(0, len(data), SILENT_BYTES):
            if self._ended:
                return
            self._feed(data[start : start + SILENT_BYTES])
        answered = self._running is None or self._running.response_complete
        self._unread = self._unread + len(data) if answered and self._in_message and not self._in_head else 0
        if answered:
            self._expect()

    def _feed(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        self._silent += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._ended = True  # nothing else is spoken here, and what follows may be anything
            self.shutdown()
        except httptools.HttpParserError:
            self.send_400_response(_INVALID)
        else:
            if self._silent > SILENT_BYTES:
                self.send_400_response(_INVALID)

    def on_message_begin(self) -> None:
        """Begin with a request's head."""
        super().on_message_begin()
        self._in_head = self._in_message = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; a trailer, which comes when the head was judged already, is dropped."""
        if self._in_head:
            super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        """Judge the head, and hand the request over."""
        version = self.parser.get_http_version()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if version not in _VERSIONS or hosts > 1 or (hosts == 0 and version == "1.1"):
            raise _Improper
        if not _TARGET.fullmatch(self.url):
            raise _Improper
        self._in_head, self._silent = False, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._silent = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._silent, self._in_message = 0, False
        super().on_message_complete()

    def _expect(self) -> None:
        if self.transport.is_closing():
            return
        if self._unread > DISCARDED_BYTES:
            self.transport.close()
            return
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not a request, and close; proper requests before them are answered first."""
        self._ended = True
        in_body = self._in_message and not self._in_head
        if in_body and self.pipeline:
            self.pipeline.popleft()
        elif in_body and self._running is not None:
            self._break_off(self._running, msg)
            return
        last = self.pipeline[0][0] if self.pipeline else self._running
        if last is None or last.response_complete:
            self._refuse(msg)
        else:
            last.keep_alive = False

    def _break_off(self, cycle: RequestResponseCycle, msg: str) -> None:
        cycle.disconnected = True
        cycle.message_event.set()
        if cycle.response_started:
            self.transport.close()  # an answer is under way: two of them would be worse than none
        else:
            self._refuse(msg)

    def _refuse(self, msg: str) -> None:
        content = msgspec.json.encode(Problem(Code.INVALID_REQUEST, msg).describe())
        head = (
            f"HTTP/1.1 400 Bad Request\r\nContent-Type: {MEDIA_TYPE}\r\n"
            f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + content)
        self.transport.close()
