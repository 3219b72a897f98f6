"""Everything on one machine: an embedded PostgreSQL, and API, scheduler and workers as child processes."""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from ..adapters.embedded import EmbeddedPostgres
from ..adapters.postgres.migrations import migrate
from .api.server import listen
from .crew import LEAVE_WITHIN, MARGIN, Crew, workers
from .settings import Settings
from .stopping import StopRequests, stop_requests

_log = logging.getLogger(__name__)
API_LOOK = 0.05


@frozen(kw_only=True)
class Plan:
    """What to run; ``ready`` is told the API's address and the database's once both answer.

    ``sync`` lets workers bring the schedules that the app declares.
    """

    settings: Settings
    app: str | None
    workers: int
    sync: bool = True
    ready: Callable[[str, str], None]


def run_up(plan: Plan) -> int:
    """Run until told to stop: exit code 0, or 1 when told twice.

    Raises AddressTaken, ChildFailed, EmbeddedError, InvalidInput.
    """
    return asyncio.run(_serve(plan))


async def _serve(plan: Plan) -> int:
    settings = plan.settings
    listen(settings.api_host, settings.api_port).close()  # or who answers there would be taken for ours
    bindir = None if settings.pg_bindir is None else Path(settings.pg_bindir)
    server = EmbeddedPostgres(Path(settings.data_dir), bindir)
    with stop_requests(LEAVE_WITHIN) as requests:
        running = await asyncio.to_thread(server.start)
        try:
            await asyncio.to_thread(migrate, running.dsn, settings.schema)
            await _with_crew(plan, running.dsn, requests)
        finally:
            if not running.adopted:
                await asyncio.to_thread(server.stop)
        _log.info("everything has stopped")
        return 1 if requests.aborting.is_set() else 0


async def _with_crew(plan: Plan, dsn: str, requests: StopRequests) -> None:
    settings = plan.settings
    port = settings.api_port or _free_port()
    crew = Crew({"FENCEPOST_DATABASE_URL": dsn, "FENCEPOST_SCHEMA": settings.schema})
    members = {
        "api": ("api", "--host", settings.api_host, "--port", str(port)),
        "scheduler": ("scheduler",),
        **_workers(plan),
    }
    greeting = asyncio.ensure_future(_greet(plan, dsn, port))
    try:
        await crew.serve(members, requests, settings.drain_grace.total_seconds() + MARGIN)
    finally:
        greeting.cancel()


def _workers(plan: Plan) -> dict[str, Sequence[str]]:
    if plan.app is None and not plan.settings.allow_shell:
        return {}
    grace = f"{plan.settings.drain_grace.total_seconds()}s"
    command = ["worker", *([] if plan.app is None else [plan.app]), "--drain-grace", grace]
    if plan.settings.allow_shell:
        command.append("--allow-shell")
    if plan.settings.queues:
        slots = ",".join(f"{queue}:{number}" for queue, number in plan.settings.queues.items())
        command += ["--queues", slots]
    if not plan.sync:
        command.append("--no-sync")
    return workers(plan.workers, command)


async def _greet(plan: Plan, dsn: str, port: int) -> None:
    host = plan.settings.api_host
    while not await _answers(host, port):  # noqa: ASYNC110 - another process acts
        await asyncio.sleep(API_LOOK)
    plan.ready(f"http://{host}:{port}", dsn)


async def _answers(host: str, port: int) -> bool:
    with suppress(OSError):
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        return True
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
