"""How many events per second the invariants' checker judges: one core, events already in memory."""

import time
from datetime import UTC, datetime, timedelta

from attrs import evolve
from ground.bench import Bench, Outcome

from fencepost.domain import commands as c
from fencepost.domain.decide import Decision, decide, enqueue
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import evolve as applied
from fencepost.domain.invariants import check
from fencepost.domain.job import Job, Specification
from fencepost.domain.token import Token

JOBS = 40_000
START = datetime(2030, 1, 1, tzinfo=UTC)
WORKER, REAPER, CALLER = c.Origin("worker:one"), c.Origin("reaper"), c.Origin("api:shop")
LIVES = (("succeed",), ("succeed",), ("expire", "succeed"), ("fail", "expire", "succeed"))


def history(job_id: int) -> list[JobEvent | Job]:
    """One job's events and row."""
    now = START + timedelta(milliseconds=job_id)
    specification = Specification(type="mail", payload=f'{{"to":"user-{job_id}@example.org"}}')
    log: list[JobEvent | Job] = []
    job = _add(log, None, enqueue(c.Submit(origin=CALLER, specification=specification), job_id, now))
    for attempt, way in enumerate(LIVES[job_id % len(LIVES)], 1):
        token = Token(job_id, attempt, f"claim-{job_id}-{attempt}")
        now = max(job.run_at, now)
        job = _add(log, job, decide(job, c.Claim(origin=WORKER, claim_id=token.claim_id), now))
        now += timedelta(seconds=31)
        job = _add(log, job, decide(job, _ending(way, token), now))
    return [*log, job]


def _ending(way: str, token: Token) -> c.Command:
    match way:
        case "fail":
            return c.Fail(origin=WORKER, token=token, error=c.JobError("OSError", "gone"), draw=0.5)
        case "expire":
            return c.Expire(origin=REAPER, draw=0.5)
        case _:
            return c.Succeed(origin=WORKER, token=token, result='{"sent":true}')


def _add(log: list[JobEvent | Job], job: Job | None, event: Decision) -> Job:
    assert isinstance(event, JobEvent)
    log.append(evolve(event, position=event.job_id * 20 + event.seq))
    return applied(job, event)


def checker(bench: Bench) -> Outcome:
    """Measure the best of some rounds: the others were disturbed."""
    jobs = bench.options.jobs or JOBS
    log = [item for job_id in range(1, jobs + 1) for item in history(job_id)]
    clock = START + timedelta(days=1)
    rates = []
    for _ in bench.runs():
        began = time.perf_counter()
        report = check(log, [], clock)
        rates.append(report.events / (time.perf_counter() - began))
        assert report.clean, report.violations[:3]
    return Outcome(value=max(rates), unit="events/s", details={"jobs": jobs, "runs": rates})
