"""Large batches as two COPYs: rows are made while the server stores those before them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache

from attrs import frozen
from sqlalchemy import text

from ...application.ports.runs import Run
from ...application.ports.submitter import Submission
from ...domain.vocabulary import EventName, State
from . import binary
from .query import CopyIn, Plan, Statement
from .submit_shape import description, ending, jobs, pieces, policy
from .submit_statements import SubmitStatements
from .waking import quoted

COPY_CHUNK = 10_000
"""Jobs in one COPY, so that it ends long before a statement times out."""
_JOBS = (
    *("job_id", "type", "queue", "priority", "max_attempts", "timeout", "lease", "submitted_at", "run_at"),
    *("effect_key", "retry", "scheduled_for", "payload"),
)
_EVENTS = (
    *("job_id", "seq", "attempt", "failures", "name", "state", "at", "run_at"),
    *("actor", "request_id", "reason", "build", "data", "payload"),
)


@frozen
class Copies:
    """The two statements of one schema; columns they do not name have the defaults of a new job."""

    jobs: Statement
    events: Statement


@cache
def copies(schema: str) -> Copies:
    """Return the statements."""
    return Copies(_copy(f"{quoted(schema)}.jobs", _JOBS), _copy(f"{quoted(schema)}.job_events", _EVENTS))


def _copy(table: str, columns: Iterable[str]) -> Statement:
    sql = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)"
    return Statement(text(sql.replace(":", r"\:")), writes=True)


def copied(
    statements: SubmitStatements, batch: Iterable[Run], drawn: Sequence[int | None], now: datetime | None
) -> Plan[list[int]]:
    """Store new jobs and return their ids; ``drawn`` has those drawn before, if any."""
    answer: list[int] = []
    into = copies(statements.schema)
    for piece in pieces(batch, COPY_CHUNK):
        number = jobs(piece)
        given = [one for one in drawn[len(answer) : len(answer) + number] if one is not None]
        [(at, ids)] = yield statements.begin_copy(number=number - len(given), now=now)
        ids = given or ids
        yield CopyIn(into.jobs, {}, binary.blocks(_jobs(piece, ids, at)))
        yield CopyIn(into.events, {}, binary.blocks(_events(piece, ids, at)))
        answer += ids
    return answer


def _jobs(piece: Iterable[Run], ids: Iterable[int], at: datetime) -> Iterator[bytes]:
    numbers, columns = iter(ids), binary.count(len(_JOBS))
    for run in piece:
        common = b"".join(_job(run.first, at))
        for payload in run.payloads:
            yield b"".join((columns, binary.bigint(next(numbers)), common, binary.text(payload)))


def _events(piece: Iterable[Run], ids: Iterable[int], at: datetime) -> Iterator[bytes]:
    numbers, columns = iter(ids), binary.count(len(_EVENTS))
    for run in piece:
        common, head = b"".join(_event(run.first, at)), description(run.first.command.specification)
        for payload in run.payloads:
            data = binary.jsonb(head + ending(payload))
            yield b"".join((columns, binary.bigint(next(numbers)), common, data, binary.text(payload)))


def _job(submission: Submission, at: datetime) -> Iterable[bytes]:
    """Return the fields between id and payload."""
    job = submission.command.specification
    return (
        *map(binary.text, (job.type, job.queue)),
        binary.smallint(job.priority),
        binary.integer(job.max_attempts),
        *map(binary.interval, (job.timeout, job.lease)),
        *map(binary.moment, (at, _due(submission, at))),
        binary.text(job.effect_key),
        binary.jsonb(policy(job)),
        binary.moment(job.scheduled_for),
    )


def _event(submission: Submission, at: datetime) -> Iterable[bytes]:
    """Return the fields between id and data."""
    origin = submission.command.origin
    return (
        *map(binary.integer, (1, 0, 0)),
        *map(binary.text, (EventName.ENQUEUED.value, State.PENDING.value)),
        *map(binary.moment, (at, _due(submission, at))),
        *map(binary.text, (origin.actor, origin.request_id, origin.reason, origin.build)),
    )


def _due(submission: Submission, at: datetime) -> datetime:
    command = submission.command
    return command.run_at or at + (command.delay or timedelta(0))
