"""What has become of the jobs that schedules remember."""

from collections.abc import Iterable

from ...domain.firing_jobs import remembered
from ...domain.schedule import Schedule
from ...domain.vocabulary import State
from .arrays import numbers
from .query import Plan
from .schedule_statements import schedule_statements


def job_states(schema: str, schedules: Iterable[Schedule]) -> Plan[dict[int, State]]:
    """Return the states of the jobs that schedules remember."""
    wanted = {job for one in schedules for job in remembered(one)}
    if not wanted:
        return {}
    found = yield schedule_statements(schema).states(job_ids=numbers(sorted(wanted)))
    return {job_id: State(state) for job_id, state in found}
