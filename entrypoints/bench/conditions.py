"""Where a measurement makes no sense, and what to keep in mind when reading one."""

from collections.abc import Iterator

from ...adapters.postgres.benching.server import OLDEST, Server
from ...domain.errors import FencepostError, InvalidInput
from ..settings import Settings
from .plan import Plan

FAR = 0.5
"""Milliseconds of a round trip above which the way to the server is a good part of what is measured."""


class CannotMeasure(FencepostError):
    """This database is not one to measure on; the message says what to do."""


def check_settings(settings: Settings, plan: Plan) -> None:
    """Raise InvalidInput for settings that would spoil the figures."""
    if settings.pooler:
        raise InvalidInput(
            "pooler",
            "must be false: bench measures direct connections; name the server itself, not the pooler",
        )
    if not settings.wakeups and "latency" in plan.figures:
        raise InvalidInput("wakeups", "must be true, or latency left out: --figures submit,drain,single")


def check_server(server: Server) -> None:
    """Raise CannotMeasure."""
    if server.number < OLDEST:
        raise CannotMeasure(f"PostgreSQL 15 or newer is needed, this is {server.version}")
    if server.read_only:
        raise CannotMeasure("the server is read-only, as a standby is: name the primary")
    if not server.may_create:
        raise CannotMeasure(
            f"{server.role} may not make a schema: let an administrator run GRANT CREATE ON DATABASE "
            f'"{server.database}" TO "{server.role}", or name a database of your own'
        )
    if not server.heeds_options:
        raise CannotMeasure(
            "a connection does not have the settings it was opened with, as behind a pooler that ignores them: "
            "name the server itself"
        )


def remarks(server: Server) -> Iterator[str]:
    """Yield what a reader of the figures has to know."""
    if server.loose:
        yield (
            f"warning: {', '.join(server.loose)} off: this server may lose what it has confirmed, and is faster "
            "than one that keeps it"
        )
    level = server.durability.get("synchronous_commit")
    if level not in {"on", "remote_apply"}:
        yield (
            f"warning: synchronous_commit is {level} here; Fencepost turns it on for its own transactions, so the "
            "figures are durable ones, but jobs submitted in your transactions (tx=) are as durable as those"
        )
    if server.round_trip > FAR:
        yield (
            f"warning: a round trip to the server takes {server.round_trip:.1f} ms, and a job's way from submit to "
            "start at least two of them: latency and single submits measure the network, too"
        )
