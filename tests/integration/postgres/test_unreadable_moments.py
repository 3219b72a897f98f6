"""Moments that PostgreSQL can hold and Python cannot."""

import psycopg
import pytest

from support.rig import Rig, submission


@pytest.mark.parametrize("moment", ["36869-01-01", "infinity", "-infinity", "1969-12-31"])
async def test_no_row_can_be_due_when_nobody_could_read_it(rig: Rig, moment: str) -> None:
    """B131: the table refuses such a due time even from SQL, so listing and claiming never meet one."""
    await rig.submit(submission(), submission())
    with pytest.raises(psycopg.errors.CheckViolation):
        await rig.ask("UPDATE fencepost.jobs SET run_at = %s WHERE job_id = 1", moment)
    assert [token.job_id for token in await rig.claim(10)] == [1, 2]
