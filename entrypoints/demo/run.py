"""The demo's course of events."""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx2
from attrs import define, field

from ...application.ports.job_reader import JobFilter
from ...application.verifying import verify
from ...domain.invariants import Report
from ...domain.job import Job
from ...domain.vocabulary import TERMINAL, ControlEventName, EventName, State
from ..container import Container
from ..fleet import Fleet
from . import checking
from .client import Client
from .faults import DemoFailed, Disasters, eventually
from .plan import Chunk, duplicates
from .story import Story

WORKERS = ("worker-1", "worker-2", "worker-3")
SLOTS = "demo:16"
APP = "fencepost.entrypoints.demo.jobs:app"


@define
class Demo:
    """One run over a migrated, empty database."""

    container: Container
    fleet: Fleet
    story: Story
    seed: int
    chunks: Sequence[Chunk]
    pids: dict[str, int] = field(factory=dict)
    job_ids: dict[int, int] = field(factory=dict)
    problems: list[str] = field(factory=list)
    done: int = 0

    async def run(self) -> bool:
        """Go through it all; True when every result is right and the history holds."""
        async with self._client() as client:
            started = time.monotonic()
            with self.story.progress(len(self.chunks)):
                counting = asyncio.create_task(self._count())
                try:
                    rescued, recovered = await self._under_fire(client)
                    await counting
                finally:
                    counting.cancel()
            took = time.monotonic() - started
            compared = await self._compare_sample(client)
        return await self._judge(took, {"lost": rescued, "compared": compared}, recovered)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        port = _free_port()
        self.fleet.start("api", "api", "--port", str(port))
        self.fleet.start("scheduler", "scheduler")
        for name in WORKERS:
            self.pids[name] = self.fleet.start(name, "worker", APP, "--queues", SLOTS)
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
            client = Client(http)
            await client.ready()
            yield client

    async def _under_fire(self, client: Client) -> tuple[int, int]:
        """Strike while jobs are still coming in: workers that keep up with them would be idle afterwards."""
        striking = asyncio.create_task(self._strike())
        try:
            await self._submit(client)
            return await striking
        finally:
            striking.cancel()

    async def _submit(self, client: Client) -> None:
        answers = await client.submit(self.chunks)
        again = duplicates(self.chunks, self.seed)
        repeated = await client.submit(again)
        self.job_ids = {
            chunk.number: answer["job_id"] for chunk, answer in zip(self.chunks, answers, strict=True)
        }
        wrong = [
            chunk.number
            for chunk, answer in zip(again, repeated, strict=True)
            if answer["created"] or answer["job_id"] != self.job_ids[chunk.number]
        ]
        self.problems += [f"chunk {number}: its duplicate was not recognised" for number in wrong]
        self.story.tell(
            f"submitted {len(answers):,} jobs over HTTP; {len(again)} duplicates got the first answer"
        )

    async def _strike(self) -> tuple[int, int]:
        """Kill the first worker, freeze the second one and wake it again.

        Returns how many jobs they held, and the id of one whose late report was refused.
        """
        await eventually("a quarter of the jobs is done", self._quarter)
        disasters = Disasters(self.fleet, self.container.job_reader(), self.container.event_log())
        lost = await disasters.kill(WORKERS[0], self.pids[WORKERS[0]])
        self.story.tell(f"killed {WORKERS[0]} with -9 in the middle of {len(lost)} jobs")
        frozen = await disasters.freeze(WORKERS[1], self.pids[WORKERS[1]])
        self.story.tell(f"froze {WORKERS[1]} with SIGSTOP in the middle of {len(frozen)} jobs")
        taken = await disasters.taken_over(frozen)
        self.story.tell(
            f"job {taken.job_id}: attempt {taken.claimed_again.attempt} claimed by another worker"
        )
        refused = await disasters.thaw(WORKERS[1], taken.lost_by)
        command, recovered = refused.data["command"], int(refused.subject.removeprefix("job:"))
        self.story.tell(f"woke {WORKERS[1]}: its late report ({command}) of job {recovered} was refused")
        return len(lost) + len(frozen), recovered

    async def _quarter(self) -> bool | None:
        return self.done * 4 >= len(self.chunks) or None

    async def _count(self) -> None:
        """Move the progress bar until every job is terminal; raises DemoFailed when a process ended by itself."""
        reader, everything = self.container.job_reader(), JobFilter(queue="demo")
        while self.done < len(self.chunks):
            states = await reader.states(everything)
            self.done = sum(states.get(state, 0) for state in TERMINAL)
            self.story.advance(self.done)
            if ended := self.fleet.ended():
                raise DemoFailed(f"ended unexpectedly: {ended}")
            await asyncio.sleep(0.2)

    async def _compare_sample(self, client: Client) -> int:
        """Compare results read over HTTP with another program's; returns how many."""
        chosen = checking.sample(self.chunks, self.seed)
        for chunk in chosen:
            if checking.sha256sum(chunk) != await client.result(self.job_ids[chunk.number]):
                self.problems.append(f"chunk {chunk.number}: sha256sum disagrees")
        return len(chosen)

    async def _judge(self, took: float, counts: dict[str, int], recovered: int) -> bool:
        found = await self._jobs()
        self.problems += checking.wrong_results(
            self.chunks, {number: found[job_id] for number, job_id in self.job_ids.items() if job_id in found}
        )
        if len(found) != len(self.chunks):
            self.problems.append(f"{len(found)} jobs for {len(self.chunks)} chunks")
        log = self.container.event_log()
        report = await verify(log)
        self._tell(found, took, {**counts, "refused": await self._refused()}, report)
        events, evidence = await log.history(recovered), await log.evidence(recovered)
        self.story.history(f"History of recovered job {recovered}", events, evidence)
        return self._verdict(report)

    async def _jobs(self) -> dict[int, Job]:
        reader, everything = self.container.job_reader(), JobFilter(queue="demo")
        found: dict[int, Job] = {}
        while page := await reader.page(everything, below=min(found, default=None), limit=1_000):
            found |= {job.job_id: job for job in page}
        return found

    async def _refused(self) -> int:
        return sum(
            [
                event.name == ControlEventName.REPORT_REFUSED
                async for event in self.container.event_log().control_stream()
            ]
        )

    def _tell(self, found: dict[int, Job], took: float, counts: dict[str, int], report: Report) -> None:
        states = Counter(job.state for job in found.values())
        events = report.events_by_name
        self.story.summary(
            {
                "jobs": f"{len(found):,}",
                "time from the first submit to the last result": f"{took:.1f} s",
                "throughput": f"{len(found) / took:,.0f} jobs/s",
                "succeeded": f"{states[State.SUCCEEDED]:,}",
                "dead, as they must": states[State.DEAD],
                "failed attempts, retried": events.get(EventName.FAILED, 0),
                "leases lapsed and recovered": events.get(EventName.LEASE_EXPIRED, 0),
                "jobs held by struck workers": counts["lost"],
                "late reports refused": counts["refused"],
                "results compared with hashlib": f"{len(self.chunks):,}",
                "results compared with sha256sum": counts["compared"],
            }
        )

    def _verdict(self, report: Report) -> bool:
        self.story.tell(
            f"verified {report.events:,} events of {report.jobs:,} jobs: {len(report.violations)} violations"
        )
        for violation in report.violations[:10]:
            self.story.tell(f"  violated: {violation}")
        for problem in self.problems[:10]:
            self.story.tell(f"  wrong: {problem}")
        good = not report.violations and not self.problems
        self.story.tell("every result is right and the history holds" if good else "NOT everything is right")
        return good


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
