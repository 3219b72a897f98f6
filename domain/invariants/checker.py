"""The checker: a stream of events and rows in, violations out, constant memory per open job."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from ..event import ControlEvent, JobEvent
from ..job import Job
from ..ledger_rows import LedgerRow, ScheduleRow
from ..vocabulary import EventName as Name
from ..vocabulary import State
from . import births, budget, lease, log, outcome, people, texts
from .course import Course, follow
from .inquiry import Cleared, ClockStep, Inquiry, Report, Violation
from .overlap import Overlaps
from .row import check_row
from .schedules import Schedules
from .surroundings import Surroundings

Check = Callable[[Course, JobEvent, Inquiry], None]

_ANY = (log.check_move,)
_REPORT = (*_ANY, lease.check_token, lease.check_ending, texts.check_no_payload)
_BYSTANDER = (*_ANY, lease.check_bystander, texts.check_no_payload)
_OPERATION = (*_ANY, people.check_operator)

CHECKS: Mapping[str, tuple[Check, ...]] = {
    Name.ENQUEUED: (log.check_birth, texts.check_submission),
    Name.CLAIMED: (
        *_ANY,
        lease.check_claim,
        people.check_pause,
        budget.check_uncounted,
        texts.check_no_payload,
    ),
    Name.SUCCEEDED: (*_REPORT, budget.check_uncounted, texts.check_result),
    Name.FAILED: (
        *_REPORT,
        outcome.check_failed,
        budget.check_counted,
        budget.check_cap,
        budget.check_backoff,
    ),
    Name.DIED: (*_REPORT, budget.check_uncounted),
    Name.SNOOZED: (*_REPORT, outcome.check_returned, budget.check_free, budget.check_snoozed),
    Name.RELEASED: (*_REPORT, outcome.check_returned, budget.check_free, budget.check_kept),
    Name.LEASE_EXPIRED: (
        *_BYSTANDER,
        lease.check_ending,
        lease.check_expiry,
        outcome.check_failed,
        budget.check_counted,
        budget.check_expiry_wait,
    ),
    Name.CANCEL_REQUESTED: (
        *_OPERATION,
        lease.check_bystander,
        texts.check_no_payload,
        outcome.check_cancel_request,
        budget.check_uncounted,
    ),
    Name.CANCELLED: (
        *_OPERATION,
        lease.check_canceller,
        lease.check_ending,
        texts.check_no_payload,
        outcome.check_cancelled,
        budget.check_uncounted,
    ),
    Name.REVOKED: (
        *_OPERATION,
        lease.check_bystander,
        lease.check_ending,
        texts.check_no_payload,
        outcome.check_revoked,
        budget.check_uncounted,
        budget.check_now,
    ),
    Name.REQUEUED: (
        *_OPERATION,
        outcome.check_requeue,
        budget.check_reset,
        budget.check_now,
        texts.check_requeue_payload,
    ),
    Name.EDITED: (*_OPERATION, lease.check_bystander, budget.check_uncounted, texts.check_edit),
    Name.DISMISSED: (
        *_OPERATION,
        lease.check_bystander,
        texts.check_no_payload,
        outcome.check_dismissal,
        budget.check_uncounted,
    ),
}
"""What is asked of each event, once ``check_order`` has found it in its place."""

_UNKNOWN: tuple[Check, ...] = (log.check_unknown,)


class Checker:
    """Judges one reading of a log.

    First ``control`` for every control event by position, then, job by job, ``event`` for each event by seq, ``entry``
    for each row of the ledger that names the job and ``row`` for the job's row if it exists; then, if schedules are to
    be judged, ``schedule`` with what ``Schedules`` takes; ``finish`` at the end. ``job_id`` says that only this job is
    read.
    """

    def __init__(self, verifier_clock: datetime, *, job_id: int | None = None) -> None:
        """Start with nothing known; ``verifier_clock`` is the database's clock."""
        self._known = Surroundings(verifier_clock)
        self._inquiry = Inquiry(self._known)
        self._course: Course | None = None
        self._entries: list[LedgerRow] = []
        self._overlaps = Overlaps()
        self._schedules = Schedules(self._inquiry)
        self._only = job_id
        self._seen: set[int] = set()
        self._jobs = 0
        self._names: dict[str, int] = {}
        self._states: dict[State, int] = {}

    @property
    def violations(self) -> list[Violation]:
        """Violations found so far; complete after ``finish``."""
        return self._inquiry.violations

    @property
    def clock_steps(self) -> list[ClockStep]:
        """Steps back of the database's clock found so far."""
        return self._inquiry.clock_steps

    def control(self, event: ControlEvent) -> None:
        """Take in a control event."""
        self._known.learn(event)
        people.check_control(event, self._inquiry)

    def event(self, event: JobEvent) -> None:
        """Judge a job's next event."""
        course = self._course
        if course is None or course.job_id != event.job_id:
            course = self._open(event.job_id)
        name, inquiry = event.name, self._inquiry
        self._names[name] = self._names.get(name, 0) + 1
        log.check_order(course, event, inquiry)
        if course.whole:
            for check in CHECKS.get(name, _UNKNOWN):
                check(course, event, inquiry)
        follow(course, event)

    def entry(self, entry: LedgerRow) -> None:
        """Judge a row of the ledger by the job that it names, whose events came before it."""
        if self._course is None or self._course.job_id != entry.job_id:
            self._close()
            births.check_missing(entry, self._inquiry)
        else:
            self._entries.append(entry)

    def schedule(self, item: ControlEvent | ScheduleRow | LedgerRow) -> None:
        """Judge schedules, when all jobs were read."""
        self._schedules.take(item)

    def row(self, row: Job) -> None:
        """Judge a job's row by the events that came before it."""
        course = self._course
        self._states[row.state] = self._states.get(row.state, 0) + 1
        if course is None or course.job_id != row.job_id:
            self._open(row.job_id)
            self._inquiry.note(Violation("I2", row.job_id, None, None, "a row without events"))
        elif course.whole:
            check_row(course, row, self._inquiry)
        self._check_birth()
        self._course = None

    def finish(self, later: Surroundings | None = None) -> Report:
        """Close the last job and report; ``later`` is what a second look, after the jobs were read, has shown."""
        self._close()
        self._schedules.finish()
        self._find_lost()
        self._inquiry.settle(later)
        return Report(
            violations=tuple(sorted(self._inquiry.violations, key=lambda v: (v.job_id or 0, v.seq or 0))),
            counts=dict(self._inquiry.counts),
            clock_steps=tuple(self._inquiry.clock_steps),
            events=sum(self._names.values()),
            events_by_name=dict(self._names),
            jobs=self._jobs,
            jobs_by_state=dict(self._states),
            alerts=tuple(self._inquiry.alerts),
            unverifiable=tuple(self._inquiry.unverifiable),
            schedules=self._schedules.number,
            firings=self._schedules.firings,
        )

    def _open(self, job_id: int) -> Course:
        self._close()
        self._jobs += 1
        if job_id in self._known.mentioned:
            self._seen.add(job_id)
        self._course = Course(job_id)
        return self._course

    def _close(self) -> None:
        """I2, I26: a job whose row did not come was pruned, or lost."""
        if self._course is not None:
            self._check_birth()
            course, self._course = self._course, None
            lost = Violation("I2", course.job_id, course.seq, course.position, "events without a row")
            self._inquiry.note(lost, _if_pruned(course.job_id))

    def _check_birth(self) -> None:
        course, entries = self._course, self._entries
        if course is None or (course.birth is None and not entries):
            return
        if course.whole:
            births.check_birth(course, entries, self._inquiry)
            self._overlaps.check(course, entries[0] if entries else None, self._inquiry)
        self._entries = []

    def _find_lost(self) -> None:
        """I26: a job that a control event tells of is there, or was pruned."""
        expected = self._known.mentioned if self._only is None else self._known.mentioned & {self._only}
        for job_id in sorted(expected - self._seen):
            lost = Violation("I26", job_id, None, None, "neither events nor a row, and not pruned")
            self._inquiry.note(lost, _if_pruned(job_id))


def _if_pruned(job_id: int) -> Cleared:
    return lambda known: known.pruned(job_id)


def check(
    events_and_rows: Iterable[JobEvent | LedgerRow | Job],
    controls: Iterable[ControlEvent],
    clock: datetime,
    schedules: Iterable[ControlEvent | ScheduleRow | LedgerRow] = (),
) -> Report:
    """Judge a whole log at once: all control events, then each job's events, ledger and row, then each schedule."""
    checker = Checker(clock)
    for control in controls:
        checker.control(control)
    judge_event, judge_row = checker.event, checker.row
    for item in events_and_rows:
        if isinstance(item, JobEvent):
            judge_event(item)
        elif isinstance(item, Job):
            judge_row(item)
        else:
            checker.entry(item)
    for one in schedules:
        checker.schedule(one)
    return checker.finish()
