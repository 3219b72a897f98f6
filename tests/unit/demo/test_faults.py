"""What the demo takes for a disaster, read from histories."""

from collections.abc import Sequence
from typing import Any, cast

from attrs import frozen

from fencepost.domain.commands import Claim, Origin
from fencepost.domain.event import JobEvent
from fencepost.domain.job import Job
from fencepost.entrypoints.demo.faults import Disasters
from support.histories import Story


@frozen
class Log:
    """The histories of some stories."""

    stories: Sequence[Story]

    async def history(self, job_id: int) -> Sequence[JobEvent]:
        """One story's events."""
        return [event for story in self.stories for event in story.events if event.job_id == job_id]


async def test_only_a_lapsed_lease_makes_a_job_one_that_was_taken_over() -> None:
    """A report under way when its worker was frozen is accepted: nothing of that job will ever be refused."""
    reported, lapsed = Story(1).submit().claim(), Story(2).submit().claim()
    held: list[Job] = [reported.job, lapsed.job]
    again = Claim(origin=Origin("worker:two"), claim_id="claim-2")
    reported.fail().after(60).do(again)
    lapsed.expire().after(60).do(again)
    taken = await Disasters(cast(Any, None), cast(Any, None), cast(Any, Log([reported, lapsed]))).taken_over(
        held
    )
    assert (taken.job_id, taken.lost_by, taken.claimed_again.attempt) == (2, "worker:one", 2)
