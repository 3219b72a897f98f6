"""What is known about a batch of submissions while it is being settled."""

from collections.abc import Iterator, Sequence

from attrs import define, field

from ...application.ports.submitter import Submission, Submitted


@define
class Batch:
    """``ids`` are drawn for jobs to come, ``answers`` are final, ``shares`` names whose answer is also one's own."""

    submissions: Sequence[Submission]
    ids: dict[int, int] = field(factory=dict)
    answers: dict[int, Submitted] = field(factory=dict)
    shares: dict[int, int] = field(factory=dict)

    def open(self) -> Iterator[tuple[int, Submission]]:
        """Go through the submissions that have no answer yet, and share none."""
        for index, submission in enumerate(self.submissions):
            if index not in self.answers and index not in self.shares:
                yield index, submission

    def replay(self, index: int, job_id: int) -> None:
        """Answer with an earlier request's job; an id drawn for this one stays unused."""
        self.ids.pop(index, None)
        self.answers[index] = Submitted(job_id, created=False)

    def share(self, index: int, first: int) -> None:
        """Answer with whatever an earlier submission of the batch is answered with."""
        self.ids.pop(index, None)
        self.shares[index] = first

    def job_id(self, index: int) -> int | None:
        """Return the job that answers a submission, as far as it is known."""
        while index in self.shares:
            index = self.shares[index]
        answer = self.answers.get(index)
        return self.ids.get(index) if answer is None else answer.job_id

    def all_answers(self) -> list[Submitted]:
        """Return the answers in the order of the submissions, once everything is settled."""
        return [self.answers.get(index) or self._shared(index) for index in range(len(self.submissions))]

    def _shared(self, index: int) -> Submitted:
        job_id = self.job_id(index)
        assert job_id is not None
        return Submitted(job_id, created=False)
