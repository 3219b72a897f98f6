"""Serving the API with uvicorn: on loopback only, until it can tell who calls."""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn

from ...domain.errors import FencepostError, InvalidInput, Unavailable
from ..container import Container
from ..loops import calm_the_collector, loop_factory
from ..schema import MigrationsPending
from ..stopping import StopRequests, stop_requests
from .app import create_app
from .guard import is_loopback
from .protocol import ProblemProtocol

IDLE_SECONDS = 5
"""Seconds that a connection may be silent while no request is under way."""
GRACE_SECONDS = 10
"""Seconds that requests under way have to end once a stop is asked for."""

logger = logging.getLogger("fencepost.api")


class AddressTaken(FencepostError):
    """Another process listens there, or the address is not this machine's."""


class _Server(uvicorn.Server):
    """Leaves signals alone, whoever serves decides what they mean; and says when it listens."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()


def run_api(container: Container) -> int:
    """Serve where the settings say until told to stop: exit code 0, or 1 when told twice.

    Raises InvalidInput for an address other than loopback, AddressTaken, MigrationsPending. While the database is
    away the API serves and says so.
    """
    calm_the_collector()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(_run(container))


async def _run(container: Container) -> int:
    settings = container.settings()
    with stop_requests() as requests:
        await _check_schema(container)
        await serve(container, settings.api_host, settings.api_port, requests)
        return 1 if requests.aborting.is_set() else 0


async def serve(
    container: Container,
    host: str,
    port: int,
    requests: StopRequests,
    *,
    started: Callable[[str], None] | None = None,
    owned: bool = True,
) -> None:
    """Serve until a stop is asked for: no new connections, requests under way end, then this returns.

    ``started`` is called with the API's URL once it listens; port 0 takes a free one. ``owned`` closes the container's
    connections at the end. Raises InvalidInput for an address other than loopback, AddressTaken.
    """
    listener = listen(host, port)
    config = uvicorn.Config(
        create_app(container, owned=owned),
        http=ProblemProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )

    def announce() -> None:
        logger.info("api started", extra={"url": url_of(listener)})
        if started is not None:
            started(url_of(listener))

    server = _Server(config, announce)
    obedience = asyncio.ensure_future(_obey(server, requests))
    try:
        await server.serve(sockets=[listener])
    finally:
        listener.close()
        obedience.cancel()
    logger.info("api stopped")


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises InvalidInput for an address other than loopback, AddressTaken."""
    if not is_loopback(host):
        raise InvalidInput(
            "api_host",
            "must be a loopback address such as 127.0.0.1: without tokens the API trusts who reaches it",
        )
    address = "127.0.0.1" if host.lower() == "localhost" else host
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # asyncio looks at the protocol before it sends small segments at once; else an answer waits 40 ms for an ACK
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise AddressTaken(f"cannot listen on {host}, port {port}: {error.strerror}") from error
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket) -> str:
    """Return where a listening socket is reached."""
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


async def _obey(server: uvicorn.Server, requests: StopRequests) -> None:
    await requests.stopping.wait()
    server.should_exit = True
    await requests.aborting.wait()
    server.force_exit = True
    for connection in tuple(server.server_state.connections):
        connection.transport.abort()  # since Python 3.12 the listener's end waits for them


async def _check_schema(container: Container) -> None:
    with suppress(Unavailable):
        if pending := await asyncio.to_thread(container.pending_migrations):
            raise MigrationsPending(
                f"schema {container.settings().schema} lacks migrations ({', '.join(pending)}): "
                "run `fencepost db migrate`"
            )
