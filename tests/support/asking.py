"""Short ways to ask one set of ports for the usual things."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from fencepost.application.ports.job_store import Claimed, ClaimedJob, ClaimRequest
from fencepost.application.ports.submitter import Submission, SubmitKey, Submitted
from fencepost.domain import commands as c
from fencepost.domain.job import Specification
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import Verdict
from support.crowd import OPERATOR, WORKER
from support.stores import Stores

DAY = timedelta(days=1)


def submission(
    *,
    key: SubmitKey | None = None,
    unique_key: str | None = None,
    unique_for: timedelta | None = None,
    delay: timedelta | None = None,
    **fields: Any,
) -> Submission:
    """One job of type ``t``."""
    command = c.Submit(origin=OPERATOR, specification=Specification(**({"type": "t"} | fields)), delay=delay)
    return Submission(command, key, unique_key, unique_for)


def submit_key(
    key: str = "k",
    digest: str = "d",
    life: timedelta = 7 * DAY,
    *,
    principal: str = "ann",
    operation: str = "submit",
) -> SubmitKey:
    """A key of one principal and operation."""
    return SubmitKey(principal, operation, key, digest, life)


async def submit(stores: Stores, **fields: Any) -> Submitted:
    """Accept one job."""
    (answer,) = await stores.submitter.submit([submission(**fields)])
    return answer


async def claim(
    stores: Stores, *, queue: str = "default", types: tuple[str, ...] = ("t",), limit: int = 100
) -> Claimed:
    """Make the queue known and claim from it."""
    await stores.queues.register([queue])
    request = ClaimRequest(
        queue=queue, types=frozenset(types), limit=limit, claim_id=str(uuid4()), origin=WORKER
    )
    return await stores.jobs.claim(request)


async def claim_one(stores: Stores, **fields: Any) -> ClaimedJob:
    """Submit a job and claim it."""
    answer = await submit(stores, **fields)
    (job,) = (job for job in (await claim(stores)).jobs if job.token.job_id == answer.job_id)
    return job


async def succeed(stores: Stores, token: Token) -> Verdict:
    """Report success."""
    (verdict,) = await stores.jobs.report([c.Succeed(origin=WORKER, token=token)])
    return verdict
