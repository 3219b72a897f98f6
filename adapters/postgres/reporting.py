"""Reporting: one statement for all the commands of a batch, built for just those commands and cached."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from attrs import frozen
from msgspec import json
from sqlalchemy import text

from ...domain import commands as c
from ...domain.decide import describe_error
from ...domain.facts import digest
from ...domain.retry import microseconds
from ...domain.vocabulary import CommandName
from .arrays import numbers, texts, words
from .identity import known_form
from .pipeline import names, pipeline
from .query import Query, Statement
from .transitions_sql import Transitions, columns_of

_ORIGIN = ("actor", "request_id", "reason", "build")
_SPREAD = {
    CommandName.FAIL,
    CommandName.TIMEOUT,
    CommandName.SNOOZE,
    CommandName.RELEASE,
}


@frozen
class Column:
    """One array beside the tokens: what reports contribute, and how the array is written."""

    kind: str
    values: Callable[[Sequence[c.Report]], list[Any]]
    array: Callable[[Any], str]


def _results(reports: Sequence[c.Report]) -> list[str | None]:
    return [report.result if isinstance(report, c.Succeed) else None for report in reports]


def _text_of_origin(name: str) -> Column:
    return Column("text", lambda reports: [getattr(report.origin, name) for report in reports], texts)


def _data(report: c.Report) -> str | None:
    """Return what the report tells about itself, as the decider would write it."""
    match report:
        case c.Succeed(result=result):
            return None if result is None else json.encode({"result_digest": digest(result)}).decode()
        case c.Fail(error=error, retry_in=retry_in) if retry_in is not None:
            told = {"error": describe_error(error), "retry_in_us": microseconds(retry_in)}
            return json.encode(told).decode()
        case c.Fail(error=error) | c.Timeout(error=error) | c.Discard(error=error):
            return json.encode({"error": describe_error(error)}).decode()
        case _:
            return None


def _wait(report: c.Report) -> int | None:
    match report:
        case c.Fail(retry_in=wait) if wait is not None:
            return microseconds(wait)
        case c.Snooze(delay=wait):
            return microseconds(wait)
        case _:
            return None


COLUMNS: Mapping[str, Column] = {
    "command": Column("text", lambda reports: [one.name.value for one in reports], words),
    "draw": Column("float8", lambda reports: [one.draw for one in reports], numbers),
    "wait_us": Column("bigint", lambda reports: [_wait(one) for one in reports], numbers),
    "data": Column("text", lambda reports: [_data(one) for one in reports], texts),
    "result": Column("text", _results, texts),
    "started_us": Column(
        "bigint", lambda reports: [one.times and one.times.started_us for one in reports], numbers
    ),
    "ran_us": Column("bigint", lambda reports: [one.times and one.times.ran_us for one in reports], numbers),
    **{name: _text_of_origin(name) for name in _ORIGIN},
}


@frozen
class Shape:
    """What decides a statement's text: the commands, and which columns are needed."""

    commands: frozenset[CommandName]
    columns: tuple[str, ...]


@cache
def _report(schema: str, shape: Shape) -> Statement:
    """Return the statement for batches of one shape.

    Each row is found by its primary key and locked, in the order of the arrays, which is that of job_id. Written this
    way no other plan is possible, whatever the statistics say.
    """
    of = names(schema)
    constants = {} if "actor" in shape.columns else dict.fromkeys(_ORIGIN, "text")
    transitions = Transitions(shape.commands, given=("claim_id", *shape.columns), constants=constants)
    kinds = {"job_id": "bigint", "attempt": "bigint", "claim_id": "uuid"}
    kinds |= {name: COLUMNS[name].kind for name in shape.columns}
    arrays = ", ".join(f"CAST(:{name}s AS {kind}[])" for name, kind in kinds.items())
    kept = ["job_id", *transitions.held]
    return Statement(
        text(f"""
WITH held AS MATERIALIZED (
    SELECT j.tid, {columns_of("j", kept)}, {columns_of("r", transitions.given)}
    FROM unnest({arrays}) AS r ({", ".join(kinds)})
    CROSS JOIN LATERAL (
        SELECT j.ctid AS tid, {columns_of("j", kept)} FROM {of.jobs} AS j
        WHERE j.job_id = r.job_id AND (j.state || '') = '{transitions.source}'
          AND {transitions.guard(job="j", given="r")}
        FOR UPDATE SKIP LOCKED
    ) AS j
), {pipeline(of, transitions)}
SELECT job_id FROM moved
"""),
        writes=True,
    )


def report_query(schema: str, reports: Sequence[c.Report], now: object) -> Query:
    """Return the statement for reports sorted by job_id; it gives back the ids of those accepted."""
    commands = frozenset([report.name for report in reports])
    origin = reports[0].origin
    uniform = all(one.origin is origin or one.origin == origin for one in reports)
    wanted = _wanted(commands, uniform=uniform)
    values = {name: COLUMNS[name].values(reports) for name in wanted}
    used = tuple(name for name in wanted if values[name].count(None) < len(reports))
    arrays = {f"{name}s": COLUMNS[name].array(values[name]) for name in used}
    constants = {} if "actor" in used else {name: getattr(origin, name) for name in _ORIGIN}
    job_ids, attempts, claim_ids = zip(*[report.token for report in reports], strict=True)
    return _report(schema, Shape(commands, used))(
        now=now,
        job_ids=numbers(job_ids),
        attempts=numbers(attempts),
        claim_ids=words([known_form(claim_id) for claim_id in claim_ids]),
        **arrays,
        **constants,
    )


@lru_cache
def _wanted(commands: frozenset[CommandName], *, uniform: bool) -> tuple[str, ...]:
    """Return the columns that reports of these commands may need."""
    unneeded = {
        "command": len(commands) == 1,
        "draw": not commands & _SPREAD,
        "wait_us": not commands & {CommandName.FAIL, CommandName.SNOOZE},
        "result": CommandName.SUCCEED not in commands,
        **dict.fromkeys(_ORIGIN, uniform),
    }
    return tuple(name for name in COLUMNS if not unneeded.get(name))
