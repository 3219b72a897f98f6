"""The tables as SQLAlchemy Core sees them; ``migrations/`` makes them."""

from attrs import frozen
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Integer,
    Interval,
    MetaData,
    SmallInteger,
    Table,
    Text,
    Uuid,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB

MOMENT = DateTime(timezone=True)
CLAIM_ID = Uuid(as_uuid=False)


@frozen
class Tables:
    """All tables of one schema."""

    jobs: Table
    job_events: Table
    control_events: Table
    queues: Table
    workers: Table
    submit_keys: Table
    unique_keys: Table
    firings: Table
    """As far as jobs are looked for by their schedule."""


def tables(schema: str = "fencepost") -> Tables:
    """Return the tables of ``schema``; every statement names it."""
    metadata = MetaData(schema=schema)
    return Tables(
        _jobs(metadata),
        _job_events(metadata),
        _control_events(metadata),
        Table("queues", metadata, Column("name", Text, primary_key=True), Column("paused_at", MOMENT)),
        _workers(metadata),
        _submit_keys(metadata),
        Table(
            "unique_keys",
            metadata,
            Column("unique_key", Text, primary_key=True),
            Column("job_id", BigInteger),
            Column("held_until", MOMENT),
        ),
        Table("firings", metadata, Column("schedule", Text), Column("job_id", BigInteger)),
    )


def _jobs(metadata: MetaData) -> Table:
    return Table(
        "jobs",
        metadata,
        Column("job_id", BigInteger, primary_key=True),
        Column("seq", Integer),
        Column("state", Text),
        Column("type", Text),
        Column("queue", Text),
        Column("priority", SmallInteger),
        Column("run_at", MOMENT),
        Column("attempt", Integer),
        Column("failures", Integer),
        Column("expiries", Integer),
        Column("idle_returns", Integer),
        Column("heartbeats", Integer),
        Column("max_attempts", Integer),
        Column("dismissed", Boolean),
        Column("timeout", Interval),
        Column("lease", Interval),
        Column("submitted_at", MOMENT),
        Column("lease_expires_at", MOMENT),
        Column("cancel_requested_at", MOMENT),
        Column("claim_id", CLAIM_ID),
        Column("worker", Text),
        Column("effect_key", Text),
        Column("scheduled_for", MOMENT),
        Column("retry", JSONB),
        Column("payload", JSON),
        Column("result", JSON),
    )


def _job_events(metadata: MetaData) -> Table:
    return Table(
        "job_events",
        metadata,
        Column("position", BigInteger),
        Column("job_id", BigInteger, primary_key=True),
        Column("seq", Integer, primary_key=True),
        Column("attempt", Integer),
        Column("failures", Integer),
        Column("name", Text),
        Column("command", Text),
        Column("state", Text),
        Column("at", MOMENT),
        Column("run_at", MOMENT),
        Column("lease_expires_at", MOMENT),
        Column("started_at", MOMENT),
        Column("ran", Interval),
        Column("claim_id", CLAIM_ID),
        Column("heartbeats", Integer),
        Column("actor", Text),
        Column("request_id", Text),
        Column("reason", Text),
        Column("build", Text),
        Column("data", JSONB),
        Column("payload", JSON),
        Column("result", JSON),
    )


def _control_events(metadata: MetaData) -> Table:
    return Table(
        "control_events",
        metadata,
        Column("position", BigInteger, primary_key=True),
        Column("subject", Text),
        Column("name", Text),
        Column("at", MOMENT),
        Column("actor", Text),
        Column("request_id", Text),
        Column("reason", Text),
        Column("data", JSONB),
    )


def _workers(metadata: MetaData) -> Table:
    return Table(
        "workers",
        metadata,
        Column("worker", Text, primary_key=True),
        Column("queues", ARRAY(Text)),
        Column("types", ARRAY(Text)),
        Column("build", Text),
        Column("idle", Boolean),
        Column("started_at", MOMENT),
        Column("last_seen_at", MOMENT),
    )


def _submit_keys(metadata: MetaData) -> Table:
    return Table(
        "submit_keys",
        metadata,
        Column("principal", Text, primary_key=True),
        Column("operation", Text, primary_key=True),
        Column("key", Text, primary_key=True),
        Column("request_digest", Text),
        Column("job_id", BigInteger),
        Column("used_at", MOMENT),
        Column("expires_at", MOMENT),
    )
