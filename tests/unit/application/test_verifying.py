"""The use case feeds the checker from the log, whatever happens while it reads."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta

from attrs import define, evolve

from fencepost.application.ports.event_log import LogFilter
from fencepost.application.verifying import verify
from fencepost.domain.event import ControlEvent, JobEvent
from fencepost.domain.job import Job
from fencepost.domain.ledger_rows import LedgerRow, ScheduleRow
from fencepost.domain.vocabulary import ControlEventName as Name
from support.histories import SECOND, START, Story, broken, control, log_of


@define
class GrowingLog:
    """Implements the port ``EventLog``; ``meanwhile`` happens before the jobs' snapshot is taken."""

    jobs: list[JobEvent | Job]
    controls: list[ControlEvent]
    meanwhile: Callable[["GrowingLog"], None] = lambda log: None
    now: datetime = START + timedelta(days=1)
    planned: tuple[ControlEvent | ScheduleRow | LedgerRow, ...] = ()

    async def history(self, job_id: int) -> Sequence[JobEvent]:
        """Not asked for."""
        raise NotImplementedError

    async def evidence(self, job_id: int) -> Sequence[ControlEvent]:
        """Not asked for."""
        raise NotImplementedError

    async def page(
        self, where: LogFilter, *, after: int = 0, limit: int = 100
    ) -> Sequence[JobEvent | ControlEvent]:
        """Not asked for."""
        raise NotImplementedError

    async def stream(self, *, job_id: int | None = None) -> AsyncIterator[JobEvent | LedgerRow | Job]:
        """Yield all jobs, or one."""
        self.meanwhile(self)
        for item in self.jobs:
            if job_id in (None, item.job_id):
                yield item

    async def schedule_stream(self) -> AsyncIterator[ControlEvent | ScheduleRow | LedgerRow]:
        """Yield what there is about schedules."""
        for item in self.planned:
            yield item

    async def control_stream(self) -> AsyncIterator[ControlEvent]:
        """Yield all control events."""
        for event in tuple(self.controls):
            yield event

    async def clock(self) -> datetime:
        """Return the database's clock."""
        return self.now


def two_jobs() -> list[JobEvent | Job]:
    """One job done, one running."""
    return log_of(Story(1).submit().claim().succeed("1"), Story(2).submit().claim())


async def test_a_clean_log_is_reported_clean() -> None:
    """Everything was read, nothing was found."""
    report = await verify(GrowingLog(two_jobs(), []))
    assert (report.clean, report.events, report.jobs) == (True, 5, 2)


async def test_one_job_can_be_verified_alone() -> None:
    """Neither the events of other jobs nor evidence about them are missed."""
    log = GrowingLog(two_jobs(), [control(Name.REPORT_REFUSED, "job:7", 1)])
    report = await verify(log, job_id=2)
    assert (report.clean, report.events, report.jobs) == (True, 2, 1)
    assert broken(await verify(log)) == {"I26"}


async def test_pauses_are_known_before_jobs_are_judged() -> None:
    """A claim inside a pause that has ended long ago is found."""
    paused = control(Name.QUEUE_PAUSED, "queue:default", 2001)
    resumed = control(Name.QUEUE_RESUMED, "queue:default", 2003)
    report = await verify(GrowingLog(two_jobs(), [paused, resumed]))
    assert [(v.invariant, v.job_id) for v in report.violations] == [("I37", 2)]


async def test_a_queue_resumed_while_the_log_is_read_raises_no_alarm() -> None:
    """A claim after a resume that came after the first look is no violation."""
    log = GrowingLog(two_jobs(), [control(Name.QUEUE_PAUSED, "queue:default", 1500)])
    log.meanwhile = lambda log: log.controls.append(control(Name.QUEUE_RESUMED, "queue:default", 1501))
    assert (await verify(log)).clean


async def test_a_payload_erased_while_the_log_is_read_raises_no_alarm() -> None:
    """The erasure is found by the second look."""

    def erase(log: GrowingLog) -> None:
        log.jobs[:4] = [evolve(item, payload=None) for item in log.jobs[:4]]
        log.controls.append(control(Name.PAYLOAD_ERASED, "job:1", 3000))

    assert (await verify(GrowingLog(two_jobs(), [], erase))).clean


async def test_a_job_pruned_while_the_log_is_read_raises_no_alarm() -> None:
    """Evidence of a job is read, then the job is pruned, then jobs are read."""

    def prune(log: GrowingLog) -> None:
        del log.jobs[:4]
        log.controls.append(control(Name.JOBS_PRUNED, "jobs", 3000, data={"job_ids": [1]}))

    evidence = control(Name.REPORT_REFUSED, "job:1", 1)
    assert (await verify(GrowingLog(two_jobs(), [evidence], prune))).clean


async def test_what_happens_while_the_log_is_read_is_not_in_the_future() -> None:
    """The clock is read again at the end; what is later than that is in the future."""

    def go_on(log: GrowingLog) -> None:
        log.now += 10 * SECOND
        story = Story(3)
        story.now = log.now
        log.jobs += log_of(story.submit())

    log = GrowingLog(two_jobs(), [], go_on)
    assert (await verify(log)).clean
    log.meanwhile, log.now = lambda log: None, log.now - SECOND
    assert broken(await verify(log)) == {"I3"}
