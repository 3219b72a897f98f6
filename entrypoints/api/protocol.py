"""The server's own refusals as problems: what is not proper HTTP never reaches the application."""

import asyncio

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from .bodies import DISCARDED_BYTES
from .problems import MEDIA_TYPE, Code, Problem


class ProblemProtocol(H11Protocol):
    """HTTP/1.1 by h11, which is strict about lengths, header bytes and request targets.

    A connection without a request under way is closed when it falls silent, also before its first request, and when
    more arrives of a body that was answered unread than is thrown away for politeness.
    """

    _unread = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base
        """Wait for a request, but not for ever."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take bytes in; those of a body that is already answered are counted and thrown away."""
        super().data_received(data)
        self._unread = self._unread + len(data) if self.conn.our_state is h11.DONE else 0
        if getattr(self.cycle, "response_complete", True):  # there is no cycle before the first request
            self._expect()

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

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not a request, and close."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # an answer is under way: two of them would be worse than none
            return
        content = msgspec.json.encode(Problem(Code.INVALID_REQUEST, msg).describe())
        headers = [
            ("Content-Type", MEDIA_TYPE),
            ("Content-Length", str(len(content))),
            ("Connection", "close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=content),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
