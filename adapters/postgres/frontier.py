"""Where a worker's next claim begins: behind what it claimed last, but for a full scan now and then.

While any transaction in the cluster holds an old snapshot, dead versions of claimed jobs stay in the index, and a scan
from the start walks over every one of them. A hint, never truth: what lies behind the frontier (late commits, jobs
that went back, rows that were locked) is found by the full scans, which are kept to a share of the time. Where one
takes long, no claim waits for it: what is behind is looked for beside the claims, which go on, and finding something
moves the frontier back.
"""

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from attrs import define, field, frozen

from ...domain.limits import PRIORITY_MAX, PRIORITY_MIN

LEVELS = tuple(range(PRIORITY_MAX, PRIORITY_MIN - 1, -1))
"""All priorities, in claim order."""
MARGIN = timedelta(milliseconds=50)
"""How far behind the clock a frontier stays: a submit becomes visible some milliseconds after its run_at."""
SHARE = 0.05
"""The most that full scans take of the time, unless told otherwise."""
CHEAP = 0.005
"""Seconds that a full scan may take for a claim to be one."""

Place = tuple[datetime, int]
"""The run_at and job_id after which a level of priority is continued."""


@frozen
class Scan:
    """Where one claim begins on each level of priority; a level not named begins at its start, as all do if full."""

    full: bool
    places: Mapping[int, Place] = field(factory=dict)


FULL = Scan(full=True)


@define
class Frontier:
    """That of one queue and one set of types; ``monotonic`` gives seconds.

    A full scan comes no sooner than its share allows: after d seconds of one, the next is due d / share seconds later.
    One that reached its limit is finished by the scans that follow: lower levels begin at their start once more.
    """

    monotonic: Callable[[], float]
    share: float = SHARE
    cheap: float = CHEAP
    looking: bool = False
    """Whether somebody looks behind it now."""
    _places: dict[int, Place] = field(factory=dict)
    _full_again: float = -math.inf
    _last_full: float = -math.inf

    def scan(self) -> Scan:
        """Return where to begin now."""
        return FULL if self._is_due else self.onward()

    def onward(self) -> Scan:
        """Return where to go on."""
        return Scan(full=False, places=dict(self._places))

    @property
    def wants_a_look(self) -> bool:
        """Whether a full scan is due and takes so long that claims should not wait for it."""
        return self._last_full > self.cheap and (self.looking or self._is_due)

    @property
    def _is_due(self) -> bool:
        return self.monotonic() >= self._full_again

    def gave_up(self, scan: Scan, seconds: float) -> None:
        """Hear how long a scan took that came to no end."""
        if len(scan.places) < len(LEVELS):
            self._count(seconds)
            self._last_full = seconds

    def found(self, scan: Scan, last: tuple[int, Place] | None, clock: datetime, seconds: float) -> None:
        """Hear where a scan reached its limit, with the priority, or None; the clock it saw, and how long it took.

        Levels that came back short go on from that clock, so that rows which may not be claimed are not walked again
        and again. The level on which the limit was reached goes on from its last row, though it be further back than
        before: there may be more than one batch behind. Lower ones were not looked at.
        """
        walked = [priority for priority in LEVELS if last is None or priority >= last[0]]
        if not scan.places.keys() >= set(walked):
            self._count(seconds)
        if scan.full:
            self._last_full = seconds
            self._places.clear()
        self._places.update(dict.fromkeys(walked, (clock - MARGIN, 0)))
        if last is not None:
            self._places[last[0]] = last[1]

    def looked(self, first: Mapping[int, Place], seconds: float) -> None:
        """Hear of the first job behind it on each level that has one, and how long looking took."""
        self._count(seconds)
        self._last_full = seconds
        for priority, (run_at, job_id) in first.items():
            before = run_at, job_id - 1
            self._places[priority] = min(before, self._places.get(priority, before))

    def _count(self, seconds: float) -> None:
        """Count seconds in which some level was walked from its start."""
        self._full_again = max(self._full_again, self.monotonic()) + seconds * (1 / self.share - 1)

    def patience(self, wait: timedelta | None, elapsed: float = 0.0) -> timedelta:
        """Return how long to wait after a scan from here that came back short: there may be something behind it.

        Like ``wait`` it is counted from when the scan was sent, ``elapsed`` seconds ago.
        """
        seconds = self._last_full if self.looking else max(0.0, self._full_again - self.monotonic())
        full_in = timedelta(seconds=seconds + elapsed)
        return full_in if wait is None else min(wait, full_in)
