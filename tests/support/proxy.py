"""A bad network between a client and PostgreSQL, one that fails exactly when it is told to."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from typing import Self

from attrs import define, field
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from .wire import Questions

WITHIN = 10.0
READY = b"Z\x00\x00\x00\x05"


class Trouble(Enum):
    """What happens to the next statement that is asked for."""

    REPLY_LOST = "the server did it, its answer is lost and the connection cut"
    HELD = "the statement is on its way, and the client's side is cut"


@define(eq=False)
class Link:
    """One connection of a client and its continuation to the server."""

    client: socket.socket
    server: socket.socket
    questions: Questions = field(factory=Questions)
    trouble: Trouble | None = None
    held: bytes = b""


class Proxy:
    """Forwards to a server; use ``dsn`` instead of the server's."""

    def __init__(self, dsn: str) -> None:
        """Remember the server."""
        self._target = conninfo_to_dict(dsn)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._links: list[Link] = []
        self._armed: tuple[str, Trouble] | None = None
        self._flowing = threading.Event()
        self._flowing.set()
        self.struck = threading.Event()
        """Set when the trouble has happened."""

    @property
    def dsn(self) -> str:
        """The address of the proxy."""
        host, port = self._listener.getsockname()
        return make_conninfo("", **{**self._target, "host": host, "port": port})

    def trouble(self, statement: str, trouble: Trouble) -> None:
        """Let it happen to the next statement that begins so, on whichever connection."""
        self.struck.clear()
        self._armed = (statement, trouble)

    def deliver(self) -> None:
        """Let the server have what was held."""
        for link in self._held():
            link.server.sendall(link.held)
            link.held = b""

    def lose(self) -> None:
        """Let the server know that the client is gone; what was held never arrives."""
        for link in self._held():
            _close(link.server)
            link.held = b""

    def cut(self) -> None:
        """Cut all connections; new ones are possible."""
        for link in self._links:
            _close(link.client)
            _close(link.server)
        self._links.clear()

    def stall(self) -> None:
        """Forward nothing more, but keep everything open."""
        self._flowing.clear()

    def flow(self) -> None:
        """Forward again."""
        self._flowing.set()

    @property
    def connections(self) -> int:
        """How many connections have been made since the last cut."""
        return len(self._links)

    def __enter__(self) -> Self:
        """Start."""
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.flow()
        _close(self._listener)
        self.cut()

    def _held(self) -> Iterator[Link]:
        return (link for link in self._links if link.held)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            link = Link(client, self._connect())
            self._links.append(link)
            for pump in (self._to_server, self._to_client):
                threading.Thread(target=pump, args=(link,), daemon=True).start()

    def _connect(self) -> socket.socket:
        host = str(self._target.get("host", "127.0.0.1"))
        port = int(str(self._target.get("port", 5432)))
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _to_server(self, link: Link) -> None:
        for chunk in _chunks(link.client):
            self._flowing.wait()
            asked = link.questions.read(chunk)
            if self._armed is not None and any(
                question.lstrip().startswith(self._armed[0]) for question in asked
            ):
                link.trouble, self._armed = self._armed[1], None
            if link.trouble is Trouble.HELD:
                link.held += chunk
                _close(link.client)
                self.struck.set()
                return
            if not _send(link.server, chunk):
                break
        _close(link.server)

    def _to_client(self, link: Link) -> None:
        for chunk in _chunks(link.server):
            self._flowing.wait()
            if link.trouble is None:
                if not _send(link.client, chunk):
                    break
            elif chunk[-6:-1] == READY:
                self.struck.set()
                break
        _close(link.client)
        if link.trouble is not None:
            _close(link.server)


def _chunks(source: socket.socket) -> Iterator[bytes]:
    while True:
        try:
            chunk = source.recv(65_536)
        except OSError:
            return
        if not chunk:
            return
        yield chunk


def _send(target: socket.socket, chunk: bytes) -> bool:
    try:
        target.sendall(chunk)
    except OSError:
        return False
    return True


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
