"""What is found about one schedule: like an inquiry's findings, in the schedule's name."""

from datetime import datetime

from attrs import frozen

from .inquiry import Cleared, ClockStep, Inquiry, Violation


@frozen
class Findings:
    """Takes findings about the schedule ``name``."""

    name: str
    inquiry: Inquiry

    @property
    def clock(self) -> datetime:
        """The database's clock, read before anything else."""
        return self.inquiry.known.clock

    def note(
        self, invariant: str, what: str, cleared: Cleared | None = None, *, position: int | None = None
    ) -> None:
        """Report a violation, or a doubt that a later look around may clear."""
        self.inquiry.note(self._violation(invariant, what, position), cleared)

    def leave_open(self, invariant: str, what: str) -> None:
        """Report what cannot be judged: fire times were computed by another version of the tz database."""
        self.inquiry.leave_open(self._violation(invariant, what, None))

    def alert(self, invariant: str, what: str) -> None:
        """Report what is not done in time, and can still be done."""
        self.inquiry.alert(self._violation(invariant, what, None))

    def step(self, at: datetime, before: datetime) -> None:
        """Report that the clock stepped back: something was written at ``at`` after something at ``before``."""
        self.inquiry.note_step(ClockStep(None, None, before - at, self.name))

    def _violation(self, invariant: str, what: str, position: int | None) -> Violation:
        return Violation(invariant, None, None, position, f"schedule {self.name}: {what}")
