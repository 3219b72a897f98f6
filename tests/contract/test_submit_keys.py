"""Submit keys and unique options, in memory and in PostgreSQL."""

from datetime import timedelta

import pytest

from fencepost.application.ports.job_reader import JobFilter
from fencepost.application.ports.submitter import SubmitKey
from fencepost.domain import commands as c
from fencepost.domain.errors import KeyConflict
from support.asking import DAY, claim, claim_one, submission, submit, submit_key, succeed
from support.crowd import OPERATOR
from support.stores import Clock, Stores

MICROSECOND = timedelta(microseconds=1)


async def _jobs(stores: Stores) -> int:
    return await stores.reader.count(JobFilter())


async def test_the_same_request_with_the_same_key_gets_the_first_answer(stores: Stores) -> None:
    """A repeated submit creates nothing and names the first job."""
    first = await submit(stores, key=submit_key())
    again = await submit(stores, key=submit_key())
    assert (first.created, again.created) == (True, False)
    assert again.job_id == first.job_id
    assert await _jobs(stores) == 1
    assert len(await stores.log.history(first.job_id)) == 1


async def test_a_key_used_for_another_request_is_a_conflict_that_writes_nothing(stores: Stores) -> None:
    """The whole batch is refused when one of its keys belongs to another request."""
    await submit(stores, key=submit_key())
    batch = [submission(), submission(key=submit_key("fresh")), submission(key=submit_key(digest="other"))]
    with pytest.raises(KeyConflict):
        await stores.submitter.submit(batch)
    assert await _jobs(stores) == 1
    assert (await submit(stores, key=submit_key("fresh"))).created


async def test_the_same_key_twice_in_a_batch_is_one_job(stores: Stores) -> None:
    """Duplicates inside a batch are folded into the first."""
    batch = [submission(key=submit_key()), submission(), submission(key=submit_key())]
    first, other, again = await stores.submitter.submit(batch)
    assert (first.created, other.created, again.created) == (True, True, False)
    assert first.job_id == again.job_id != other.job_id
    assert await _jobs(stores) == 2


async def test_two_requests_with_one_key_in_a_batch_are_a_conflict(stores: Stores) -> None:
    """A batch that contradicts itself writes nothing."""
    with pytest.raises(KeyConflict):
        await stores.submitter.submit(
            [submission(key=submit_key()), submission(key=submit_key(digest="other"))]
        )
    assert await _jobs(stores) == 0


@pytest.mark.parametrize(
    "key", [submit_key(digest="x", principal="bob"), submit_key(digest="x", operation="import")]
)
async def test_keys_of_other_principals_and_operations_are_other_keys(stores: Stores, key: SubmitKey) -> None:
    """B142: A key means something only together with who used it and for what."""
    first = await submit(stores, key=submit_key())
    other = await submit(stores, key=key)
    assert other.created
    assert other.job_id != first.job_id


async def test_keys_are_case_sensitive(stores: Stores) -> None:
    """``K`` and ``k`` are two keys."""
    await submit(stores, key=submit_key("k"))
    assert (await submit(stores, key=submit_key("K"))).created


async def test_a_key_outlives_its_job(stores: Stores) -> None:
    """A key still answers after the job has finished."""
    job = await claim_one(stores, key=submit_key())
    await succeed(stores, job.token)
    again = await submit(stores, key=submit_key())
    assert (again.job_id, again.created) == (job.token.job_id, False)


async def test_a_key_lives_for_its_life_from_the_first_use(stores: Stores, clock: Clock) -> None:
    """Replays do not prolong a key; once its life is over it is free for any request."""
    first = await submit(stores, key=submit_key(life=DAY))
    clock.advance(DAY - MICROSECOND)
    assert (await submit(stores, key=submit_key(life=DAY))).job_id == first.job_id
    clock.advance(MICROSECOND)
    second = await submit(stores, key=submit_key(life=DAY, digest="other"))
    assert second.created
    assert second.job_id != first.job_id
    with pytest.raises(KeyConflict):
        await submit(stores, key=submit_key(life=DAY))


async def test_an_empty_batch_is_answered_emptily(stores: Stores) -> None:
    """Submitting nothing is fine."""
    assert list(await stores.submitter.submit([])) == []


async def test_unique_options_give_the_unfinished_job(stores: Stores) -> None:
    """While a job is pending or running, another with its unique key is answered with it."""
    first = await submit(stores, unique_key="u")
    assert (await submit(stores, unique_key="u")).job_id == first.job_id
    (job,) = (await claim(stores)).jobs
    again = await submit(stores, unique_key="u")
    assert (again.job_id, again.created) == (first.job_id, False)
    await succeed(stores, job.token)
    assert (await submit(stores, unique_key="u")).created


async def test_unique_options_are_folded_inside_a_batch(stores: Stores) -> None:
    """The first of a batch takes the unique key, the others get its job."""
    answers = await stores.submitter.submit([submission(unique_key="u") for _ in range(3)])
    assert [answer.created for answer in answers] == [True, False, False]
    assert len({answer.job_id for answer in answers}) == 1


async def test_a_unique_period_counts_from_the_submit_whatever_becomes_of_the_job(
    stores: Stores, clock: Clock
) -> None:
    """Within its period a finished job still answers; after it an unfinished one does not."""
    first = await claim_one(stores, unique_key="u", unique_for=DAY)
    await succeed(stores, first.token)
    clock.advance(DAY - MICROSECOND)
    assert (await submit(stores, unique_key="u", unique_for=DAY)).job_id == first.token.job_id
    clock.advance(MICROSECOND)
    second = await submit(stores, unique_key="u", unique_for=DAY)
    assert second.created
    clock.advance(DAY)
    assert (await submit(stores, unique_key="u", unique_for=DAY)).created


async def test_unique_options_never_block_a_requeue(stores: Stores) -> None:
    """B134: A finished job comes back although another has taken its unique key; a newcomer gets the other."""
    first = await submit(stores, unique_key="u")
    await stores.jobs.operate([first.job_id], c.Cancel(origin=OPERATOR))
    second = await submit(stores, unique_key="u")
    assert second.created
    await stores.jobs.operate([first.job_id], c.Requeue(origin=OPERATOR))
    assert {job.token.job_id for job in (await claim(stores)).jobs} == {first.job_id, second.job_id}
    assert (await submit(stores, unique_key="u")).job_id == second.job_id


async def test_a_key_remembers_the_job_that_unique_options_gave(stores: Stores) -> None:
    """A submit answered with another's job is replayed with the same answer, also after that job is over."""
    first = await claim_one(stores, unique_key="u")
    answer = await submit(stores, unique_key="u", key=submit_key())
    assert (answer.job_id, answer.created) == (first.token.job_id, False)
    await succeed(stores, first.token)
    again = await submit(stores, unique_key="u", key=submit_key())
    assert (again.job_id, again.created) == (first.token.job_id, False)
    assert await _jobs(stores) == 1


async def test_a_replay_does_not_take_the_unique_key(stores: Stores) -> None:
    """A key's answer comes before unique options are looked at."""
    first = await claim_one(stores, unique_key="u", key=submit_key())
    await succeed(stores, first.token)
    assert (await submit(stores, unique_key="u", key=submit_key())).job_id == first.token.job_id
    assert (await submit(stores, unique_key="u")).created
