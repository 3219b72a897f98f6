"""One run: figures, the checker's verdict, and a database as it was before."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from ...adapters.postgres.benching import place as schemas
from ...adapters.postgres.benching.questions import Questions
from ...adapters.postgres.benching.server import Server, look
from ...application.verifying import verify
from ...domain.invariants import Report
from ..container import assemble, closed, opened
from ..fleet import fleet
from ..loops import loop_factory
from ..redaction import redacted
from ..settings import load
from ..stopping import SIGNALS, StopRequests, stop_requests
from . import bulk
from .conditions import check_server, remarks
from .ground import Figure, Ground
from .jobs import bench_app
from .place import Place, connected, schema_for_a_while
from .plan import Plan
from .single import latency, single

LEAVE_WITHIN = 3.0
"""Seconds after a second Ctrl-C in which the process ends whatever it does."""
Tell = Callable[[str], None]


@frozen(kw_only=True)
class Outcome:
    """What a run came to."""

    figures: Sequence[Figure]
    server: Server
    report: Report


@frozen(kw_only=True)
class Bench:
    """``tell`` is for what people read meanwhile; ``ready`` gets the outcome before the schema is dropped."""

    dsn: str
    plan: Plan
    tell: Tell
    ready: Callable[[Outcome], None]

    def run(self) -> bool:
        """Measure; False when interrupted.

        Raises BenchFailed, CannotMeasure, SchemaLeft, Unavailable.
        """
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            return runner.run(self._heedful())

    async def _heedful(self) -> bool:
        """Measure until told to stop; told twice, clean no longer."""
        with stop_requests(LEAVE_WITHIN, (*SIGNALS, signal.SIGHUP)) as requests:
            measuring = asyncio.ensure_future(self._measured())
            heeding = asyncio.ensure_future(_heed(requests, measuring, self.tell))
            try:
                await measuring
            except asyncio.CancelledError:
                return False
            finally:
                heeding.cancel()
            return True

    async def _measured(self) -> None:
        async with connected(self.dsn) as connection:
            server = await look(connection)
            check_server(server)
            self._describe(server, await schemas.leftovers(connection))
            async with schema_for_a_while(self.dsn, connection, self.tell) as place:
                figures = await self._figures(place)
                self.tell("checking the history")
                report = await _judged(place)
                self.ready(Outcome(figures=figures, server=server, report=report))

    def _describe(self, server: Server, left: Sequence[str]) -> None:
        where = redacted(self.dsn) or "the database that PG* names"
        self.tell(f"PostgreSQL {server.version}, round trip {server.round_trip:.2f} ms: {where}")
        for remark in remarks(server):
            self.tell(remark)
        if left:
            self.tell(
                f"left behind by runs that were killed: {', '.join(left)}; `fencepost bench --clean` drops them"
            )

    async def _figures(self, place: Place) -> list[Figure]:
        """Measure one job at a time first: vacuuming after many would disturb it."""
        app, noop = bench_app(place.dsn, place.schema)
        environment = {"FENCEPOST_DATABASE_URL": place.dsn, "FENCEPOST_SCHEMA": place.schema}
        with fleet(environment) as crew:
            async with app:
                questions = Questions(place.connection, place.schema)
                ground = Ground(plan=self.plan, app=app, noop=noop, questions=questions, fleet=crew)
                found = {}
                for name, measure in (("latency", latency), ("single", single)):
                    if name in self.plan.figures:
                        self.tell(f"measuring {name}")
                        found[name] = await measure(ground)
                found |= await self._bulk(ground)
        return [found[name] for name in self.plan.figures]

    async def _bulk(self, ground: Ground) -> dict[str, Figure]:
        if not {"submit", "drain"} & set(self.plan.figures):
            return {}
        self.tell("measuring submit")
        filled = await bulk.filled(ground)
        found = {"submit": bulk.submit(filled)}
        if "drain" in self.plan.figures:
            self.tell("measuring drain")
            found["drain"] = await bulk.drain(ground, filled)
        return found


async def _heed(requests: StopRequests, measuring: asyncio.Future[None], tell: Tell) -> None:
    await requests.stopping.wait()
    tell("stopping, and dropping the schema")
    measuring.cancel()
    await requests.aborting.wait()
    measuring.cancel()


async def _judged(place: Place) -> Report:
    container = await opened(assemble(load({"schema": place.schema}), place.dsn))
    try:
        return await verify(container.event_log())
    finally:
        await closed(container)


def records(outcome: Outcome) -> list[dict[str, Any]]:
    """Return a record for each figure; violations are those of the whole run."""
    report, server = outcome.report, outcome.server
    around = {
        "judged": report.jobs,
        "violations": sum(report.counts.values()),
        "server": server.version,
        "round_trip_ms": server.round_trip,
        "durable": not server.loose,
    }
    return [
        {
            "figure": figure.name,
            "value": figure.value,
            "unit": figure.unit,
            **figure.details,
            "cut": figure.cut,
            **around,
        }
        for figure in outcome.figures
    ]
