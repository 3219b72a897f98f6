"""Operations from Python."""

import pytest

from fencepost import Context, Fencepost, State, WrongState
from fencepost.domain.commands import Requeue
from support.programs import reached, working


async def test_a_requeue_of_a_success_says_what_to_choose(app: Fencepost, emptied: str) -> None:
    """Without a choice of effect key the error names the argument; with one the job is put back, and is pending."""

    @app.job
    async def work(ctx: Context) -> None: ...

    job = (await work.submit()).job_id
    async with working(app, emptied):
        await reached(app, job, State.SUCCEEDED)
    origin = app.origin("user:ann")
    with pytest.raises(WrongState, match="fresh_effect_key must be chosen"):
        await app.operate(job, Requeue(origin=origin))
    await app.operate(job, Requeue(origin=origin, fresh_effect_key=False))
    with pytest.raises(
        WrongState, match="requeue: it is pending, and must be succeeded or dead or cancelled"
    ):
        await app.operate(job, Requeue(origin=origin))
