"""The clock's decisions beside the fire times of a schedule: I28 and I29, and I27 where ranges are concerned.

Decisions come in order of fire times. Each belongs to the stint of its version and must be about that stint's fire
times, as many as it counts; each fire time that was due in a stint lies in some decision. Usually stints follow each
other in time, too, and one is looked at at a time; where the clock was set back they overlap.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from attrs import define, field

from ..firing import Reason
from ..firing_jobs import ACTOR
from ..ledger_rows import LedgerRow
from ..schedule import fire_times
from ..vocabulary import ControlEventName as Name
from .entries import policy_faults
from .findings import Findings
from .spans import Gap, Span, is_computable
from .stints import Changes, Stint


@define(eq=False)
class Walk:
    """Goes along the ledger of one schedule; ``decided`` is the last fire time in a decision so far.

    ``upcoming`` is the next fire time of the schedule's row, None when there is none. In the stint that lasts, what
    comes before ``due_before`` must have its decision; None stands for nothing.
    """

    changes: Changes
    findings: Findings
    upcoming: datetime | None
    due_before: datetime | None
    decided: datetime | None = None
    lasting: Span | None = None
    """The span of the stint that lasts, once it has begun."""
    _waiting: list[tuple[Stint, Stint | None]] = field(factory=list)
    _open: list[Span] = field(factory=list)
    _spans: dict[int, list[Span]] = field(factory=dict)
    _before: tuple[LedgerRow, Span] | None = None

    def __attrs_post_init__(self) -> None:
        """Put active stints in order of time."""
        stints = self.changes.stints
        pairs = zip(stints, [*stints[1:], None], strict=False)
        active = [(one, end) for one, end in pairs if one.active and one.terms is not None]
        self._waiting = sorted(active, key=lambda pair: (pair[0].since, pair[0].position), reverse=True)

    def take(self, entry: LedgerRow) -> None:
        """Judge the next decision of the clock."""
        self._begin(entry.fire_at)
        self._pass_by(entry.fire_at, entry.tz_version)
        self._judge_repetition(entry)
        span = self._span_of(entry)
        if span is None:
            self._judge_stray(entry)
        else:
            self._report(span, span.pass_by(entry.fire_at, self.decided), entry.tz_version, span.tz_version)
            self._judge(span, entry)
            self._count(span, entry)
            self._before = entry, span
            span.tz_version = entry.tz_version
        self.decided = max(entry.until, self.decided or entry.until)

    def finish(self) -> None:
        """Judge what was due after the last decision."""
        self._begin(None)
        for span in self._open:
            if span.due_before is not None:
                self._report(span, span.pass_by(span.due_before, self.decided), span.tz_version)

    def mismatch(self, span: Span, invariant: str, what: str, *tz_versions: str | None) -> None:
        """Report what fire times are not as they should be, if they can be computed again."""
        if is_computable(span.terms, *tz_versions):
            self.findings.note(invariant, what)
        else:
            self.findings.leave_open(invariant, what)

    def _begin(self, moment: datetime | None) -> None:
        """Begin with stints that began before a moment."""
        while self._waiting and (moment is None or self._waiting[-1][0].since < moment):
            stint, end = self._waiting.pop()
            assert stint.terms is not None
            due_before = self.due_before if end is None else end.since + end.since.resolution
            span = Span(stint, stint.terms, end, due_before)
            self._open.append(span)
            for version in _versions(stint, end):
                self._spans.setdefault(version, []).append(span)
            if end is None:
                self.lasting = span
            if stint.first != span.following:
                what = f"{stint.name} says that it fires next at {stint.first}, not at {span.following}"
                self.mismatch(span, "I29", what, stint.tz_version)

    def _pass_by(self, moment: datetime, tz_version: str) -> None:
        """Leave behind what was due before a decision, in every stint."""
        for span in self._open:
            before = moment if span.due_before is None else min(moment, span.due_before)
            if span.following is not None and span.following < before:
                self._report(span, span.pass_by(before, self.decided), tz_version, span.tz_version)
        if len(self._open) > 1:
            self._open = [span for span in self._open if not _is_over(span)]

    def _report(self, span: Span, gap: Gap | None, *tz_versions: str | None) -> None:
        if gap is not None:
            self.mismatch(span, "I28", str(gap), *tz_versions)

    def _judge_stray(self, entry: LedgerRow) -> None:
        """I28: a decision was made in some stint, though its definition may be one that nobody can read any more."""
        unread = (stint for stint in self.changes.stints if stint.active and stint.terms is None)
        if any(entry.version in (stint.version, stint.version + 1) for stint in unread):
            self.findings.leave_open("I28", f"{said(entry)} by version {entry.version}, which cannot be read")
        else:
            self.findings.note("I28", f"{said(entry)} by version {entry.version}: it was not in force then")

    def _judge_repetition(self, entry: LedgerRow) -> None:
        """I27, I28: a fire time inside a range has had its decision, if it is one of the range's fire times."""
        if self._before is None or self.decided is None or entry.fire_at > self.decided:
            return
        other, span = self._before
        if entry.fire_at <= other.until and _gives(span, entry.fire_at):
            what = f"{said(entry)}, but is decided: {other.outcome} with others from {other.fire_at}"
            self.findings.note("I28", what)

    def _span_of(self, entry: LedgerRow) -> Span | None:
        """Return the span that a decision belongs to: by its version; by time if several schedules have had that."""
        candidates = [one for one in self._spans.get(entry.version, ()) if _may_decide(one, entry)]
        if len(candidates) > 1:
            candidates.sort(key=lambda one: (self._is_unlikely(one, entry), one.end is None))
            return next((one for one in candidates if _fits(one, entry)), candidates[0])
        return candidates[0] if candidates else None

    def _is_unlikely(self, span: Span, entry: LedgerRow) -> bool:
        """Whether a decision would have been made ahead of a stint's end, or of the schedule's next fire time."""
        if span.end is not None:
            return entry.fire_at > span.end.since
        return self.upcoming is not None and entry.until >= self.upcoming

    def _judge(self, span: Span, entry: LedgerRow) -> None:
        """Judge a decision as one of its stint."""
        end = span.end
        if end is None and self.upcoming is not None and entry.until >= self.upcoming:
            self.findings.note("I29", f"{said(entry)}, although the schedule fires next at {self.upcoming}")
        if end is None and entry.reason == Reason.EDITED:
            self.findings.note("I28", f"{said(entry)}: nobody has changed the schedule")
        if end is not None and entry.decided_at > end.at:
            self.findings.step(end.at, entry.decided_at)
        if entry.decided_at < span.stint.at:
            self.findings.step(entry.decided_at, span.stint.at)
        for fault in policy_faults(entry, span.terms.policies):
            self.findings.note("I28", f"fire time {entry.fire_at}: {fault}")

    def _count(self, span: Span, entry: LedgerRow) -> None:
        """I28: a decision is about fire times of its stint, as many as it says."""
        first = span.following
        number, last = span.count(entry.until, entry.count)
        if first != entry.fire_at:
            what = f"{said(entry)}: the expression of version {entry.version} does not give it"
        elif number != entry.count or last != entry.until:
            there = "more" if number > entry.count else f"{number} to {last}"
            what = f"{said(entry)} for {entry.count} fire times to {entry.until}, there are {there}"
        else:
            return
        self.mismatch(span, "I28", what, entry.tz_version, span.tz_version)


def said(entry: LedgerRow) -> str:
    """Return a decision in words."""
    return f"fire time {entry.fire_at} was {entry.outcome} ({entry.reason})"


def _versions(stint: Stint, end: Stint | None) -> Iterator[int]:
    """Yield the versions that decisions of a stint bear: its own, and that of a pause by the schedule itself.

    Such a pause passes over what is due in the name of the version after it.
    """
    yield stint.version
    if end is not None and end.name is Name.SCHEDULE_PAUSED and end.actor.startswith(ACTOR):
        yield end.version


def _may_decide(span: Span, entry: LedgerRow) -> bool:
    by_pause = entry.version != span.stint.version
    return span.stint.since < entry.fire_at and (not by_pause or entry.reason == Reason.EDITED)


def _is_over(span: Span) -> bool:
    """Whether nothing that is due is still to come."""
    return span.following is None or (span.due_before is not None and span.following >= span.due_before)


def _fits(span: Span, entry: LedgerRow) -> bool:
    """Whether a decision is what the stint's definition gives."""
    times = fire_times(span.terms.timing, entry.fire_at - entry.fire_at.resolution)
    first = next(times, None)
    last = first if entry.count == 1 else next(islice(times, entry.count - 2, None), None)
    same = first == entry.fire_at and last == entry.until
    return same and not any(policy_faults(entry, span.terms.policies))


def _gives(span: Span, moment: datetime) -> bool:
    return next(fire_times(span.terms.timing, moment - moment.resolution), None) == moment
