"""Jobs, events, queues and schedules as records: JSON values under the vocabulary's names.

Moments are RFC 3339, durations seconds. Payloads and results stand apart: each surface reads their text its own way,
and lists leave them out.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from ..application.ports.queue_store import Queue
from ..domain.declaring import Difference, drift
from ..domain.event import ControlEvent, JobEvent
from ..domain.facts import instant, instant_or_none
from ..domain.firing import Firing
from ..domain.job import Job, Specification
from ..domain.ledger import Entry
from ..domain.retry import Constant, Delays, RetryPolicy
from ..domain.schedule import Schedule

Record = dict[str, Any]


def job_record(job: Job) -> Record:
    """Return what events say of a job; what heartbeats alone change is in ``lease_record``."""
    return {
        "job_id": job.job_id,
        "type": job.type,
        "queue": job.queue,
        "state": job.state.value,
        "priority": job.priority,
        "run_at": instant(job.run_at),
        "submitted_at": instant(job.submitted_at),
        "attempt": job.attempt,
        "failures": job.failures,
        "max_attempts": job.max_attempts,
        "expiries": job.expiries,
        "idle_returns": job.idle_returns,
        "worker": job.worker,
        "claim_id": job.claim_id,
        "cancel_requested_at": instant_or_none(job.cancel_requested_at),
        "dismissed": job.dismissed,
        "timeout": _seconds(job.timeout),
        "lease": _seconds(job.lease),
        "retry": retry_record(job.retry),
        "effect_key": job.effect_key,
        "scheduled_for": instant_or_none(job.scheduled_for),
        "seq": job.seq,
    }


def lease_record(job: Job) -> Record:
    """Return what moves with each heartbeat, without an event."""
    return {"lease_expires_at": instant_or_none(job.lease_expires_at), "heartbeats": job.heartbeats}


def contents_record(of: Job | JobEvent, read: Callable[[str], object]) -> Record:
    """Return payload and result, their stored text read by ``read``."""
    stored = {"payload": of.payload, "result": of.result}
    return {name: None if text is None else read(text) for name, text in stored.items()}


def event_record(event: JobEvent | ControlEvent) -> Record:
    """Return an event of the global log: ``data`` holds digests of the payload and result that it leaves out."""
    return _job_event_record(event) if isinstance(event, JobEvent) else _control_event_record(event)


def _job_event_record(event: JobEvent) -> Record:
    return {
        "position": event.position,
        "subject": f"job:{event.job_id}",
        "job_id": event.job_id,
        "seq": event.seq,
        "at": instant(event.at),
        "name": event.name.value,
        "command": None if event.caused_by is None else event.caused_by.value,
        "state": event.state.value,
        "attempt": event.attempt,
        "claim_id": event.claim_id,
        "failures": event.failures,
        "run_at": instant_or_none(event.run_at),
        "lease_expires_at": instant_or_none(event.lease_expires_at),
        "heartbeats": event.heartbeats,
        "started_at": instant_or_none(event.started_at),
        "ran": _seconds(event.ran),
        **_trail(event),
        "build": event.build,
    }


def _control_event_record(event: ControlEvent) -> Record:
    return {
        "position": event.position,
        "subject": event.subject,
        "at": instant(event.at),
        "name": event.name.value,
        **_trail(event),
    }


def _trail(event: JobEvent | ControlEvent) -> Record:
    return {
        "actor": event.actor,
        "request_id": event.request_id,
        "reason": event.reason,
        "data": dict(event.data),
    }


def queue_record(queue: Queue) -> Record:
    """Return a queue with its counts."""
    return {
        "name": queue.name,
        "paused_at": instant_or_none(queue.paused_at),
        "pending": queue.pending,
        "due": queue.due,
        "running": queue.running,
    }


def schedule_record(schedule: Schedule) -> Record:
    """Return a schedule's definition in the form in which it is given, and where it stands; without the payload."""
    timing, policies = schedule.definition.timing, schedule.definition.policies
    return {
        "name": schedule.name,
        "version": schedule.version,
        "state": schedule_state(schedule),
        "cron": timing.cron,
        "tz": timing.tz,
        "dst": timing.dst.value,
        "starts_at": instant_or_none(timing.starts_at),
        "ends_at": instant_or_none(timing.ends_at),
        "jitter": _seconds(timing.jitter),
        "missed": policies.missed.value,
        "catchup_window": _seconds(policies.catchup_window),
        "overlap": policies.overlap.value,
        "pause_on_failure": policies.pause_on_failure,
        "job": template_record(schedule.definition.template),
        "created_at": instant(schedule.created_at),
        "next_fire_at": instant_or_none(schedule.next_fire_at),
        "paused_at": instant_or_none(schedule.paused_at),
        "pause_reason": schedule.pause_reason,
        "waiting": None if schedule.waiting is None else instant(schedule.waiting.fire_at),
        "open_jobs": list(schedule.open_jobs),
        "last_job": schedule.last_job,
        "declared_by": None if schedule.declared is None else schedule.declared.app,
        "drifted": [one.field for one in drift(schedule)],
    }


def drift_record(schedule: Schedule) -> Record:
    """Return where a schedule is not what the code said last; of a payload, digests."""
    return {"drift": [difference_record(one) for one in drift(schedule)]}


def difference_record(one: Difference) -> Record:
    """Return a field that a schedule and the code say differently."""
    return {"field": one.field, "schedule": one.schedule, "code": one.code}


def unreadable_record(schedule: Schedule) -> Record:
    """Return what is known of a schedule whose definition nobody can read; ``fault`` is what is wrong with that."""
    return {
        "name": schedule.name,
        "version": schedule.version,
        "fault": schedule.fault,
        "next_fire_at": instant_or_none(schedule.next_fire_at),
        "paused_at": instant_or_none(schedule.paused_at),
    }


def schedule_state(schedule: Schedule) -> str:
    """Return ``active``, ``paused``, or ``over`` for one that never fires again by itself."""
    if schedule.paused_at is not None:
        return "paused"
    return "over" if schedule.next_fire_at is None else "active"


def template_record(template: Specification) -> Record:
    """Return what the jobs of a schedule are like; without the payload."""
    return {
        "type": template.type,
        "queue": template.queue,
        "priority": template.priority,
        "max_attempts": template.max_attempts,
        "timeout": _seconds(template.timeout),
        "lease": _seconds(template.lease),
        "retry": retry_record(template.retry),
    }


def firing_record(firing: Firing) -> Record:
    """Return the decision about ``fire_at``, or about ``count`` of them from there ``until``."""
    return {
        "fire_at": instant(firing.fire_at),
        "until": instant_or_none(firing.until),
        "count": firing.count,
        "outcome": firing.outcome.value,
        "reason": firing.reason.value,
        "origin": firing.origin,
        "job_id": firing.job_id,
    }


def entry_record(entry: Entry) -> Record:
    """Return a row of the ledger: a decision, and when and by what it was made."""
    return {
        **firing_record(entry.firing),
        "decided_at": instant(entry.decided_at),
        "version": entry.version,
        "tz_version": entry.tz_version,
    }


def fire_time_record(fire_at: datetime, place: ZoneInfo) -> Record:
    """Return a fire time, and what a zone's wall clock shows then."""
    return {"fire_at": instant(fire_at), "local": local_time(fire_at, place)}


def local_time(time: datetime, place: ZoneInfo) -> str | None:
    """Return what a zone's wall clock shows, with its offset; null where the calendar has ended there."""
    try:
        return time.astimezone(place).isoformat()
    except OverflowError:
        return None


def retry_record(policy: RetryPolicy) -> Record:
    """Return a retry policy in the form in which it is submitted."""
    match policy:
        case Constant(delay=delay):
            return {"policy": "constant", "delay": _seconds(delay)}
        case Delays(delays=delays):
            return {"policy": "delays", "delays": [_seconds(delay) for delay in delays]}
        case _:
            return {"policy": "exponential", "base": _seconds(policy.base), "cap": _seconds(policy.cap)}


def _seconds(duration: timedelta | None) -> float | None:
    if duration is None:
        return None
    seconds = duration.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds
