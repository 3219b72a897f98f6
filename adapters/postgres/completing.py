"""The last statements of ``ctx.transaction()``, and what became of one whose COMMIT was not answered."""

from datetime import datetime, timedelta
from functools import cache

from attrs import frozen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import BigInteger, Text, bindparam, text

from ...domain.commands import Succeed
from ...domain.effects import ENDINGS
from ...domain.errors import FencepostError, LeaseLost, Unavailable, UnknownOutcome
from ...domain.token import Token
from ...domain.vocabulary import EventName
from .connector import Connector, Timeouts
from .identity import known_form
from .query import Plan, Statement
from .reporting import report_query
from .waking import quoted

PATIENCE = "5s"
"""How long the job's row is waited for: others hold it for one short statement each."""
_LOCK = """
SELECT job_id FROM {schema}.jobs
WHERE job_id = :job_id AND set_config('lock_timeout', :patience, true) IS NOT NULL FOR UPDATE
"""
_ENDING = """
SELECT name FROM {schema}.job_events
WHERE job_id = :job_id AND attempt = :attempt AND claim_id = CAST(:claim_id AS uuid) AND name IN ({endings})
"""


@frozen
class _Statements:
    lock: Statement
    ending: Statement


@cache
def _statements(schema: str) -> _Statements:
    names = {"schema": quoted(schema), "endings": ", ".join(f"'{name}'" for name in ENDINGS)}
    job_id = bindparam("job_id", type_=BigInteger)
    lock = text(_LOCK.format(**names)).bindparams(job_id, bindparam("patience", type_=Text))
    ending = text(_ENDING.format(**names)).bindparams(
        job_id, bindparam("attempt", type_=BigInteger), bindparam("claim_id", type_=Text)
    )
    return _Statements(Statement(lock, writes=True), Statement(ending, writes=False))


def completion(schema: str, report: Succeed, now: datetime | None) -> Plan[None]:
    """Apply a success under the row's lock; raises LeaseLost when the token no longer opens the job."""
    yield _statements(schema).lock(job_id=report.token.job_id, patience=PATIENCE)
    if not (yield report_query(schema, [report], now)):
        raise LeaseLost(f"attempt {report.token.attempt} no longer holds job {report.token.job_id}")


def fate(schema: str, token: Token) -> Plan[FencepostError | None]:
    """Find out what became of a transaction that ended with ``completion``: None when it is there, else the error.

    It held the row's lock when its COMMIT was sent. So whoever has that lock now knows that it is over, and sees in the
    history how: nothing but it writes a success of this attempt. Repeating the report instead would be wrong: where the
    transaction was rolled back the success would be accepted, without the handler's writes.
    """
    statements, job_id = _statements(schema), token.job_id
    exists = yield statements.lock(job_id=job_id, patience=PATIENCE)
    endings = yield statements.ending(
        job_id=job_id, attempt=token.attempt, claim_id=known_form(token.claim_id)
    )
    if EventName.SUCCEEDED in [name for [name] in endings]:
        return None
    if endings:
        return LeaseLost(f"attempt {token.attempt} no longer holds job {job_id}; nothing was written")
    if not exists:
        return UnknownOutcome(f"job {job_id} was removed before the outcome could be read")
    return Unavailable(f"the transaction of job {job_id} was rolled back")


def handlers_connector(dsn: str, *, pooled: bool) -> Connector:
    """Return how handlers' connections are opened.

    Handlers may run long statements and think in between, but not keep locks for ever; and the server itself looks
    whether they are still there, as the row of a job whose COMMIT got lost on the way stays locked until it knows.
    """
    given = conninfo_to_dict(dsn)
    if not pooled:
        probes = "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"
        given["options"] = f"{given.get('options', '')} {probes}".strip()
    timeouts = Timeouts(timedelta(0), timedelta(0), idle_in_transaction=timedelta(minutes=5))
    return Connector(make_conninfo("", **given), "fencepost transactions", timeouts, pooled)
