"""Verifying: the whole history, or one job's, is judged by the invariants."""

from ..domain.invariants import Checker, Report, Surroundings
from ..domain.job import Job
from .ports.event_log import EventLog


async def verify(log: EventLog, *, job_id: int | None = None) -> Report:
    """Read the log once and report every promise it breaks.

    Control events and the clock are read again at the end: what was resumed, erased or pruned, and what happened
    between the first look and the snapshot that jobs are read from, must not raise a false alarm.
    """
    checker = Checker(await log.clock(), job_id=job_id)
    async for control in log.control_stream():
        checker.control(control)
    async for item in log.stream(job_id=job_id):
        if isinstance(item, Job):
            checker.row(item)
        else:
            checker.event(item)
    return checker.finish(await _look_around(log))


async def _look_around(log: EventLog) -> Surroundings:
    known = Surroundings(await log.clock())
    async for control in log.control_stream():
        known.learn(control)
    return known
