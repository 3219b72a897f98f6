"""The decider: command + job + clock → event or refusal. Total and pure; every rule is in ``transitions``."""

from datetime import datetime, timedelta
from typing import Any

from attrs import evolve as changed
from attrs import frozen

from . import commands as c
from . import facts
from .conditions import PREDICATES
from .effects import ENDINGS
from .event import IMPLIED, JobEvent
from .job import Job, derived_effect_key
from .retry import backoff, microseconds
from .token import Token
from .transitions import RULES, Due, Rule
from .vocabulary import CommandName, EventName, State, Verdict

SNOOZE_CAP = "snooze_cap"
"""Error type of a snooze or release beyond the cap."""


@frozen
class Refusal:
    """Why no event follows: ``refused``, ``already_applied``, or ``gone`` for a job that does not exist."""

    verdict: Verdict


Decision = JobEvent | Refusal

_RULES: dict[tuple[CommandName, State], tuple[Rule, ...]] = {
    (rule.command, rule.source): tuple(
        r for r in RULES if (r.command, r.source) == (rule.command, rule.source)
    )
    for rule in RULES
}


def enqueue(command: c.Submit, job_id: int, now: datetime) -> JobEvent:
    """Decide a submit: it is always accepted, its facts having been validated before."""
    run_at = command.run_at or now + (command.delay or timedelta(0))
    return JobEvent(
        job_id=job_id,
        seq=1,
        name=EventName.ENQUEUED,
        at=now,
        state=State.PENDING,
        attempt=0,
        failures=0,
        run_at=run_at,
        data=facts.describe(command.specification),
        payload=command.specification.payload,
        **_paper_trail(command.origin),
    )


def matching_rule(job: Job, command: c.Command, now: datetime) -> Rule | None:
    """Return the one rule whose conditions hold, if any."""
    for rule in _RULES.get((command.name, job.state), ()):
        if all(PREDICATES[condition](job, command, now) is wanted for condition, wanted in rule.when.items()):
            return rule
    return None


def decide(job: Job | None, command: c.Command, now: datetime) -> Decision:
    """Judge any command but a submit; ``now`` is the database's clock, read after the row was locked."""
    if job is None:
        return Refusal(Verdict.GONE)
    rule = matching_rule(job, command, now)
    if rule is None:
        return Refusal(Verdict.REFUSED)
    if rule.event is None:
        return Refusal(Verdict.ALREADY_APPLIED)
    event = JobEvent(
        job_id=job.job_id,
        seq=job.seq + 1,
        name=rule.event,
        command=None if IMPLIED.get(rule.event) is command.name else command.name,
        at=now,
        state=rule.target,
        attempt=job.attempt,
        claim_id=job.claim_id,
        failures=_failures(job, command, rule),
        run_at=_run_at(job, command, rule, now),
        **_paper_trail(command.origin),
    )
    return _detailed(event, job, command)


def _paper_trail(origin: c.Origin) -> dict[str, Any]:
    return {
        "actor": origin.actor,
        "request_id": origin.request_id,
        "reason": origin.reason,
        "build": origin.build,
    }


def _failures(job: Job, command: c.Command, rule: Rule) -> int:
    if command.name is CommandName.REQUEUE:
        return 0
    return job.failures + rule.counts


def _run_at(job: Job, command: c.Command, rule: Rule, now: datetime) -> datetime | None:
    if rule.target is not State.PENDING:
        return None
    match rule.due, command:
        case Due.NOW, _:
            return now
        case Due.DELAY, c.Snooze(delay=delay):
            return now + delay
        case Due.BACKOFF, c.Fail(retry_in=timedelta() as retry_in):
            return now + retry_in
        case Due.BACKOFF, (c.Report(draw=draw) | c.Expire(draw=draw)):
            return now + backoff(job.retry, job.failures + 1, draw)
        case Due.EDITED, c.Edit(run_at=datetime() as run_at):
            return run_at
        case _:
            return job.run_at


def _detailed(event: JobEvent, job: Job, command: c.Command) -> JobEvent:
    """Add what only this command knows, and what an ending says about the lease it ends."""
    if event.name in ENDINGS and job.state is State.RUNNING:
        event = changed(event, lease_expires_at=job.lease_expires_at, heartbeats=job.heartbeats)
    if isinstance(command, c.Report) and command.times is not None:
        event = changed(event, started_at=command.times.started_at, ran=command.times.ran)
    match command:
        case c.Claim(claim_id=claim_id):
            return changed(
                event,
                attempt=job.attempt + 1,
                claim_id=claim_id,
                lease_expires_at=event.at + job.lease,
            )
        case c.Succeed(result=result):
            return changed(event, result=result, data=_digests(result))
        case c.Fail(error=error, retry_in=timedelta() as retry_in):
            wait = {"retry_in_us": microseconds(retry_in)}
            return changed(event, data={"error": describe_error(error), **wait})
        case c.Fail(error=error) | c.Timeout(error=error) | c.Discard(error=error):
            return changed(event, data={"error": describe_error(error)})
        case c.Snooze() | c.Release() if event.name is EventName.FAILED:
            return changed(event, data={"error": describe_error(c.JobError(SNOOZE_CAP))})
        case c.Requeue():
            return changed(event, payload=command.payload, data=_requeue_data(job, command))
        case c.Edit():
            return changed(event, payload=command.payload, data=_edit_data(job, command))
        case _:
            return event


def describe_error(error: c.JobError) -> dict[str, str]:
    """Return an error as JSON values, without a missing traceback."""
    described = {"type": error.type, "message": error.message}
    return described if error.traceback is None else {**described, "traceback": error.traceback}


def _digests(result: str | None) -> dict[str, str]:
    return {} if result is None else {"result_digest": facts.digest(result)}


def _requeue_data(job: Job, command: c.Requeue) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if command.payload is not None:
        data["payload_digest"] = facts.digest(command.payload)
    if command.fresh_effect_key:
        data["effect_key"] = derived_effect_key(job.job_id, job.seq + 1)
    return data


def _edit_data(job: Job, command: c.Edit) -> dict[str, Any]:
    """Return the old and the new value of each field the edit names; payloads as digests."""
    old, new = {}, {}
    for field in ("priority", "queue"):
        if (value := getattr(command, field)) is not None:
            old[field], new[field] = getattr(job, field), value
    if command.run_at is not None:
        old["run_at"], new["run_at"] = facts.instant(job.run_at), facts.instant(command.run_at)
    if command.payload is not None:
        old["payload_digest"] = None if job.payload is None else facts.digest(job.payload)
        new["payload_digest"] = facts.digest(command.payload)
    return {"old": old, "new": new}


def renew(job: Job, token: Token, now: datetime, grace: timedelta) -> Job | None:
    """Apply a heartbeat: never backwards, not beyond ``grace`` after a cancel request; None when the lease is lost."""
    if job.state is not State.RUNNING or job.token != token:
        return None
    assert job.lease_expires_at is not None
    overdue = job.cancel_requested_at is not None and job.cancel_requested_at + grace < now
    renewed = job.lease_expires_at if overdue else max(job.lease_expires_at, now + job.lease)
    return changed(job, lease_expires_at=renewed, heartbeats=job.heartbeats + 1)
