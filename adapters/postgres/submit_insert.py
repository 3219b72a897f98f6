"""Jobs and their events as one statement over arrays: one round trip, on any connection."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from ...application.ports.runs import Run
from ...application.ports.submitter import Submission
from ...domain.retry import microseconds
from .arrays import NULL, joined, quoted
from .query import Plan
from .submit_shape import description, ending, jobs, pieces, policy
from .submit_statements import SubmitStatements

CHUNK = 1_000
"""Jobs in one statement; more would not make it faster."""


def inserted(
    statements: SubmitStatements, batch: Iterable[Run], drawn: Sequence[int | None], now: datetime | None
) -> Plan[list[int]]:
    """Store new jobs and return their ids; ``drawn`` has those drawn before, if any."""
    ids: list[int] = []
    for piece in pieces(batch, CHUNK):
        number = jobs(piece)
        given = drawn[len(ids) : len(ids) + number] or [None] * number
        job_id = joined(NULL if one is None else str(one) for one in given)
        rows = yield statements.insert(**_columns(piece), job_id=job_id, now=now)
        ids += (one for (one,) in rows)
    return ids


def _columns(piece: Iterable[Run]) -> Mapping[str, str]:
    """Turn jobs into the insert's arrays."""
    elements: dict[str, list[str]] = {}
    for run in piece:
        head = _escaped(description(run.first.command.specification))
        each = {
            "payload": [_text(payload) for payload in run.payloads],
            "data": [f'"{head}{_escaped(ending(payload))}"' for payload in run.payloads],
        }
        common = {name: [element] * len(run.payloads) for name, element in _common(run.first).items()}
        for name, values in {**common, **each}.items():
            elements.setdefault(name, []).extend(values)
    return {name: joined(values) for name, values in elements.items()}


def _common(submission: Submission) -> Mapping[str, str]:
    """Return the elements that are the same for all jobs like this one."""
    command, job, origin = submission.command, submission.command.specification, submission.command.origin
    texts = {
        "type": job.type,
        "queue": job.queue,
        "effect_key": job.effect_key,
        "retry": policy(job),
        "run_at": None if command.run_at is None else command.run_at.isoformat(),
        "scheduled_for": None if job.scheduled_for is None else job.scheduled_for.isoformat(),
        "actor": origin.actor,
        "request_id": origin.request_id,
        "reason": origin.reason,
        "build": origin.build,
    }
    numbers = {
        "priority": job.priority,
        "max_attempts": job.max_attempts,
        "timeout_us": None if job.timeout is None else microseconds(job.timeout),
        "lease_us": microseconds(job.lease),
        "delay_us": microseconds(command.delay or timedelta(0)),
    }
    return {name: _text(value) for name, value in texts.items()} | {
        name: NULL if value is None else f"{value:d}" for name, value in numbers.items()
    }


def _text(value: str | None) -> str:
    return NULL if value is None else quoted(value)


def _escaped(text: str) -> str:
    return quoted(text)[1:-1]
