"""What a client asks of PostgreSQL, read from the bytes it sends."""

from collections.abc import Iterator

ENCRYPTION_REQUESTS = {80877103, 80877104}


class Questions:
    """Follows one connection's bytes and tells which statements they run, prepared ones included."""

    def __init__(self) -> None:
        """Expect the first message, which has no type."""
        self._buffer = b""
        self._started = False
        self._prepared: dict[bytes, str] = {}

    def read(self, chunk: bytes) -> list[str]:
        """Return the texts of the statements that a further chunk runs."""
        self._buffer += chunk
        return list(self._questions())

    def _questions(self) -> Iterator[str]:
        while (message := self._next()) is not None:
            kind, body = message
            if kind == b"Q":
                yield body.rstrip(b"\0").decode()
            elif kind == b"P":
                name, text = body.split(b"\0")[:2]
                self._prepared[name] = text.decode()
            elif kind == b"B":
                yield self._prepared.get(body.split(b"\0")[1], "")

    def _next(self) -> tuple[bytes, bytes] | None:
        """Take a whole message from the buffer, if there is one."""
        typed = int(self._started)
        if len(self._buffer) < typed + 4:
            return None
        size = int.from_bytes(self._buffer[typed : typed + 4])
        if len(self._buffer) < typed + size:
            return None
        kind, body = self._buffer[:typed], self._buffer[typed + 4 : typed + size]
        self._buffer = self._buffer[typed + size :]
        if not self._started:
            self._started = int.from_bytes(body[:4]) not in ENCRYPTION_REQUESTS
        return kind, body
