"""Rows to objects. JSON travels as text: payloads and results stay what they were, byte for byte."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Table, Text, Uuid, cast
from sqlalchemy.dialects.postgresql import JSON, JSONB

from ...domain import retry
from ...domain.event import ControlEvent, JobEvent
from ...domain.job import Job
from ...domain.retry import RetryPolicy
from ...domain.vocabulary import CommandName, ControlEventName, EventName, State
from .query import Row
from .tables import tables

_JOB = tuple(tables().jobs.columns.keys())
_CONTROL_EVENT = tuple(tables().control_events.columns.keys())
_STATES: Mapping[str, State] = {state.value: state for state in State}
_COMMANDS: Mapping[str | None, CommandName | None] = {None: None, **{c.value: c for c in CommandName}}
_EVENTS: Mapping[str, EventName] = {name.value: name for name in EventName}

_decode: Callable[[str], Any] = msgspec.json.Decoder().decode


def columns(table: Table) -> list[ColumnElement[Any]]:
    """Return a table's columns for SELECT, in the order and with the types that the functions below take."""
    return [
        cast(column, Text).label(column.name) if isinstance(column.type, JSON | JSONB | Uuid) else column
        for column in table.columns
    ]


def job(row: Row) -> Job:
    """Return the job of a row of ``jobs``."""
    values = dict(zip(_JOB, row, strict=True))
    values["state"] = _STATES[values["state"]]
    values["retry"] = retry_policy(values["retry"])
    return Job(**values)


def job_event(row: Row) -> JobEvent:
    """Return the event of a row of ``job_events``, whose name may be unknown to this version.

    Spelt out, as whole histories come through here: it takes two thirds of the time of a loop over the columns.
    """
    (
        position,
        job_id,
        seq,
        attempt,
        failures,
        name,
        command,
        state,
        at,
        run_at,
        lease_expires_at,
        started_at,
        ran,
        claim_id,
        heartbeats,
        actor,
        request_id,
        reason,
        build,
        data,
        payload,
        result,
    ) = row
    return JobEvent(
        position=position,
        job_id=job_id,
        seq=seq,
        attempt=attempt,
        failures=failures,
        name=_EVENTS.get(name) or EventName(name),
        command=_COMMANDS.get(command),
        state=_STATES[state],
        at=at,
        run_at=run_at,
        lease_expires_at=lease_expires_at,
        started_at=started_at,
        ran=ran,
        claim_id=claim_id,
        heartbeats=heartbeats,
        actor=actor,
        request_id=request_id,
        reason=reason,
        build=build,
        data={} if data is None else _decode(data),
        payload=payload,
        result=result,
    )


def control_event(row: Row) -> ControlEvent:
    """Return the event of a row of ``control_events``, whose name may be unknown to this version."""
    values = dict(zip(_CONTROL_EVENT, row, strict=True))
    values["name"] = ControlEventName(values["name"])
    values["data"] = _decode(values["data"])
    return ControlEvent(**values)


@lru_cache(maxsize=1_000)
def retry_policy(text: str) -> RetryPolicy:
    """Return the policy of a job; most jobs share one of a few."""
    return retry.restore(_decode(text))
