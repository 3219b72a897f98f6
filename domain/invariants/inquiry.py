"""What a check finds: violations, doubts that a later look around may clear, clock steps."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from attrs import Factory, define, frozen

from ..event import JobEvent
from ..vocabulary import State
from .surroundings import Surroundings

KEPT = 1_000
"""Violations of one invariant that are kept in full; the rest is only counted, so that memory stays bounded."""

Cleared = Callable[[Surroundings], bool]


@frozen
class Violation:
    """A promise that the history breaks, and where."""

    invariant: str
    job_id: int | None
    seq: int | None
    position: int | None
    what: str


@frozen
class ClockStep:
    """An event whose ``at`` lies before its predecessor's: the database's clock was set back. Not a violation.

    It is an event of a job, or of a schedule or its ledger.
    """

    job_id: int | None
    seq: int | None
    back: timedelta
    schedule: str | None = None


@frozen(kw_only=True)
class Report:
    """The verdict on a log. ``counts`` has the violations by invariant, also those beyond the kept ones.

    ``alerts`` tells of fire times that wait for a decision: late, and no broken promise yet. ``unverifiable``
    has what can't be judged, as another version of the tz database was in use. ``firings`` counts rows of the ledger.
    """

    violations: tuple[Violation, ...]
    counts: Mapping[str, int]
    clock_steps: tuple[ClockStep, ...]
    events: int
    events_by_name: Mapping[str, int]
    jobs: int
    jobs_by_state: Mapping[State, int]
    alerts: tuple[Violation, ...] = ()
    unverifiable: tuple[Violation, ...] = ()
    schedules: int = 0
    firings: int = 0

    @property
    def clean(self) -> bool:
        """Whether every promise was kept."""
        return not self.counts


@define(eq=False)
class Inquiry:
    """Collects findings; ``known`` is what was known beside the jobs' events when they were read."""

    known: Surroundings
    violations: list[Violation] = Factory(list)
    counts: dict[str, int] = Factory(dict)
    clock_steps: list[ClockStep] = Factory(list)
    doubts: list[tuple[Violation, Cleared]] = Factory(list)
    alerts: list[Violation] = Factory(list)
    unverifiable: list[Violation] = Factory(list)

    def add(self, invariant: str, event: JobEvent, what: str) -> None:
        """Report an event."""
        self.note(Violation(invariant, event.job_id, event.seq, event.position, what))

    def doubt(self, invariant: str, event: JobEvent, what: str, cleared: Cleared) -> None:
        """Report an event unless what is known beside it, now or at the end, clears it."""
        self.note(Violation(invariant, event.job_id, event.seq, event.position, what), cleared)

    def note(self, violation: Violation, cleared: Cleared | None = None) -> None:
        """Keep a violation, or a doubt."""
        if cleared is not None:
            if not cleared(self.known):
                self.doubts.append((violation, cleared))
            return
        count = self.counts[violation.invariant] = self.counts.get(violation.invariant, 0) + 1
        if count <= KEPT:
            self.violations.append(violation)

    def step(self, event: JobEvent, before: datetime) -> None:
        """Report that the clock stepped back."""
        self.note_step(ClockStep(event.job_id, event.seq, before - event.at))

    def note_step(self, step: ClockStep) -> None:
        """Keep a clock step."""
        if len(self.clock_steps) < KEPT:
            self.clock_steps.append(step)

    def alert(self, late: Violation) -> None:
        """Keep what is late."""
        if len(self.alerts) < KEPT:
            self.alerts.append(late)

    def leave_open(self, question: Violation) -> None:
        """Keep what cannot be judged."""
        if len(self.unverifiable) < KEPT:
            self.unverifiable.append(question)

    def settle(self, later: Surroundings | None) -> None:
        """Turn the doubts that even a later look around does not clear into violations."""
        doubts, self.doubts = self.doubts, []
        for violation, cleared in doubts:
            if later is None or not cleared(later):
                self.note(violation)
