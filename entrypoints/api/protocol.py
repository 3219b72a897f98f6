"""The server's own refusals as problems: what is not proper HTTP never reaches the application."""

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from .problems import MEDIA_TYPE, Code, Problem


class ProblemProtocol(H11Protocol):
    """HTTP/1.1 by h11, which is strict about lengths, header bytes and request targets."""

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
