"""The nodes every set-based transition shares: rows held → ruled → moved → logged."""

from attrs import frozen

from .transitions_sql import CLOCK, Transitions, columns_of


@frozen
class Names:
    """How statements call the tables: quoted, with their schema."""

    jobs: str
    job_events: str
    control_events: str
    queues: str


def names(schema: str) -> Names:
    """Return the tables' names in a schema, fit for a text clause."""
    prefix = '"' + schema.replace('"', '""').replace(":", r"\:") + '"'
    return Names(*(f"{prefix}.{table}" for table in ("jobs", "job_events", "control_events", "queues")))


def pipeline(of: Names, transitions: Transitions, *, extra: str = "", returning: str = "") -> str:
    """Return the nodes after ``held``.

    The clock is read in a node that reads the locked rows, so never before the lock was there. The rows are updated
    where ``held`` found them, by their ``tid``: no other plan is possible, and no second way through an index. A row
    that was changed between the statement's snapshot and the lock is left as it is. ``extra`` adds columns to
    ``ruled``, ``returning`` to ``moved``.
    """
    event = transitions.event
    return f"""
ruled AS MATERIALIZED (
    SELECT h.*, {CLOCK} AS at, {transitions.ruling} AS rule{extra} FROM held AS h
), moved AS (
    UPDATE {of.jobs} AS j SET {transitions.assignments}
    FROM ruled AS h WHERE j.ctid = h.tid AND h.rule IS NOT NULL
    RETURNING {_outcome(transitions)}{returning}
), logged AS (
    INSERT INTO {of.job_events} ({", ".join(event)})
    SELECT {", ".join(event.values())} FROM moved AS m
)"""


def _outcome(transitions: Transitions) -> str:
    """Return what later nodes see: the row as it is now, and of the lease that ended what it was."""
    now = ["job_id", "seq", "attempt", "failures", "state", "run_at"]
    kept = ["at", "rule", *(name for name in transitions.given if name not in now)]
    if "heartbeats" in transitions.held:
        kept += ["lease_expires_at", "heartbeats"]
        kept += [] if "claim_id" in kept else ["claim_id"]
    else:
        now += ["lease_expires_at", "claim_id"]
    return f"{columns_of('j', now)}, {columns_of('h', kept)}"
