"""A batch that holds what its jobs have in common once: a million jobs are a million texts, not as many objects."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, overload

from attrs import evolve, field, frozen

from .submitter import Submission


@frozen
class Run:
    """Submissions without keys that differ in nothing but their payloads; ``first`` is the first of them."""

    first: Submission
    payloads: list[str | None]

    def __getitem__(self, index: int) -> Submission:
        """Return one of them."""
        if index == 0:
            return self.first
        command = self.first.command
        specification = evolve(command.specification, payload=self.payloads[index])
        return evolve(self.first, command=evolve(command, specification=specification))


@frozen
class Runs(Sequence[Submission]):
    """Submissions that are made when they are looked at one by one."""

    runs: Sequence[Run]
    _starts: list[int] = field(init=False)
    _length: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Count."""
        starts, length = [], 0
        for run in self.runs:
            starts.append(length)
            length += len(run.payloads)
        object.__setattr__(self, "_starts", starts)
        object.__setattr__(self, "_length", length)

    def __len__(self) -> int:
        """Return how many submissions there are."""
        return self._length

    def __iter__(self) -> Iterator[Submission]:
        """Make them one after the other."""
        return (run[index] for run in self.runs for index in range(len(run.payloads)))

    @overload
    def __getitem__(self, index: int) -> Submission: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Submission]: ...

    def __getitem__(self, index: int | slice) -> Submission | Sequence[Submission]:
        """Return one, or some."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        run = bisect_right(self._starts, place) - 1
        return self.runs[run][place - self._starts[run]]


def runs(submissions: Iterable[Submission]) -> Sequence[Run]:
    """Return any submissions as runs."""
    if isinstance(submissions, Runs):
        return submissions.runs
    found = []
    for _, alike in groupby(submissions, _traits):
        members = list(alike)
        found.append(Run(members[0], [member.command.specification.payload for member in members]))
    return found


def _traits(submission: Submission) -> tuple[Any, ...]:
    """Return all but the payload."""
    command, job = submission.command, submission.command.specification
    of_job = (job.type, job.queue, job.priority, job.max_attempts, job.timeout, job.lease, job.retry)
    of_command = (job.effect_key, job.scheduled_for, command.run_at, command.delay, command.origin)
    return (*of_job, *of_command, submission.key, submission.unique_key, submission.unique_for)
