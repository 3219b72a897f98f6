"""The end of what a process writes: bounded memory, however much it is."""

import asyncio


class Tail(asyncio.Protocol):
    """Reads a pipe to its end and keeps the last bytes."""

    def __init__(self, most: int) -> None:
        """Keep so many bytes."""
        self._most, self._kept = most, b""
        self.bytes = 0
        """How many were written in all."""
        self.ended = asyncio.Event()
        """Set when nobody has the other end open any more."""

    def data_received(self, data: bytes) -> None:
        """Take what was written."""
        self.bytes += len(data)
        self._kept = (self._kept + data)[-self._most :]

    def connection_lost(self, _error: Exception | None) -> None:
        """Note the end."""
        self.ended.set()

    def text(self, most: int) -> str:
        """Return the last bytes as text, broken characters replaced; never more than ``most`` bytes of UTF-8."""
        found = self._kept[-most:].decode(errors="replace")
        while len(encoded := found.encode()) > most:  # a replaced byte takes three
            found = encoded[-most:].decode(errors="ignore")
        return found
