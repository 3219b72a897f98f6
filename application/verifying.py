"""Verifying: the whole history, or one job's, is judged by the invariants; with it schedules and their ledger."""

from ..domain.event import JobEvent
from ..domain.invariants import Checker, Report, Surroundings
from ..domain.job import Job
from .ports.event_log import EventLog


async def verify(log: EventLog, *, job_id: int | None = None, schedules: bool = True) -> Report:
    """Read the log once and report every promise it breaks.

    Of one job alone that is its own history and the rows of the ledger that name it: neither the fire times of its
    schedule nor other jobs. ``schedules`` False leaves out fire times, where only some of the jobs are there.

    Control events and the clock are read again at the end: what was resumed, erased or pruned, and what happened
    between the first look and the snapshot that jobs are read from, must not raise a false alarm.
    """
    checker = Checker(await log.clock(), job_id=job_id)
    async for control in log.control_stream():
        checker.control(control)
    async for item in log.stream(job_id=job_id):
        if isinstance(item, JobEvent):
            checker.event(item)
        elif isinstance(item, Job):
            checker.row(item)
        else:
            checker.entry(item)
    if schedules and job_id is None:
        async for planned in log.schedule_stream():
            checker.schedule(planned)
    return checker.finish(await _look_around(log))


async def _look_around(log: EventLog) -> Surroundings:
    known = Surroundings(await log.clock())
    async for control in log.control_stream():
        known.learn(control)
    return known
