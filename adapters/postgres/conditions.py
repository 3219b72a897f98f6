"""The guards' vocabulary in SQL: one expression for each condition that a set-based statement can meet."""

import re
from collections.abc import Iterable, Mapping

from ...domain.conditions import Condition as If
from ...domain.limits import IDLE_RETURNS

CONDITIONS: Mapping[If, str] = {
    If.DUE: "{job}.run_at <= {now}",
    If.TOKEN: "{job}.attempt = {given}.attempt AND {job}.claim_id = {given}.claim_id",
    If.LAPSED: "{job}.lease_expires_at < {now}",
    If.CANCEL_REQUESTED: "{job}.cancel_requested_at IS NOT NULL",
    If.SPENT: "{job}.failures + 1 >= {job}.max_attempts",
    If.IDLE_CAPPED: f"{{job}}.idle_returns >= {IDLE_RETURNS}",
    If.FIRST_EXPIRY: "{job}.expiries = 0",
}
"""``{job}`` is the job's row, ``{given}`` what came with the command, ``{now}`` the clock."""

_COLUMN = re.compile(r"\{job\}\.(\w+)")


def render(condition: If, wanted: bool, *, job: str, given: str, now: str) -> str:
    """Return the SQL of a condition that must hold, or must not."""
    expression = CONDITIONS[condition].format(job=job, given=given, now=now)
    return f"({expression})" if wanted else f"NOT ({expression})"


def columns(conditions: Iterable[If]) -> set[str]:
    """Return the columns of ``jobs`` that the conditions look at."""
    return {column for condition in conditions for column in _COLUMN.findall(CONDITIONS[condition])}
