"""Where claims begin: the share of full scans, the place on each level, the margin, and how long to be patient."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import define

from fencepost.adapters.postgres.frontier import LEVELS, MARGIN, Frontier, Place

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DRY = NOW - MARGIN, 0


@define
class Seconds:
    """A monotonic clock in the test's hands."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


@pytest.fixture
def clock() -> Seconds:
    """The frontier's clock."""
    return Seconds()


@pytest.fixture
def frontier(clock: Seconds) -> Frontier:
    """One that may scan in full for a twentieth of the time."""
    return Frontier(clock, share=0.05)


def found(
    frontier: Frontier,
    *claimed: tuple[int, Place],
    limit: int = 2,
    at: datetime = NOW,
    took: float = 1.0,
) -> None:
    """Let the next scan claim something; it takes so many seconds."""
    frontier.found(frontier.scan(), claimed[-1] if len(claimed) == limit else None, at, took)


def places(frontier: Frontier) -> dict[int, Place]:
    """Where it would go on, its full scan being not yet due again."""
    scan = frontier.scan()
    assert not scan.full
    return dict(scan.places)


def again(clock: Seconds) -> None:
    """Let the next full scan be due."""
    clock.now += 1e6


def at(seconds: int, job_id: int = 1) -> Place:
    """A job that was due so many seconds ago."""
    return NOW - seconds * SECOND, job_id


def test_the_first_scan_is_full(frontier: Frontier) -> None:
    """A new worker knows nothing, and begins at the start of every level."""
    scan = frontier.scan()
    assert (scan.full, dict(scan.places)) == (True, {})


def test_full_scans_take_no_more_than_their_share(frontier: Frontier, clock: Seconds) -> None:
    """After one that took 2 s the next may begin 38 s later: 2 of 40 s are a twentieth."""
    found(frontier, took=2.0)
    clock.now += 37.9
    assert not frontier.scan().full
    clock.now += 0.2
    assert frontier.scan().full


def test_a_full_scan_that_cost_nothing_is_followed_by_another(frontier: Frontier) -> None:
    """On a healthy table practically every claim looks at everything."""
    found(frontier, took=0.0)
    assert frontier.scan().full


def test_a_full_scan_that_was_given_up_counts_too(frontier: Frontier, clock: Seconds) -> None:
    """What it took is waited for although it found nothing, and the place is what it was."""
    found(frontier, (5, at(9)), (5, at(8)))
    again(clock)
    frontier.gave_up(frontier.scan(), 7.5)
    clock.now += 142
    scan = frontier.scan()
    assert (scan.full, scan.places[5]) == (False, at(8))
    clock.now += 1
    assert frontier.scan().full


def test_scans_from_the_frontier_are_not_counted(frontier: Frontier, clock: Seconds) -> None:
    """However long they take, the full scan comes when it was due."""
    found(frontier, took=1.0)
    clock.now += 18
    found(frontier, (5, at(3)), took=18.0)
    frontier.gave_up(frontier.scan(), 18.0)
    clock.now += 1.1
    assert frontier.scan().full


def test_with_the_whole_time_as_its_share_every_scan_is_full(clock: Seconds) -> None:
    """A share of 1 switches the frontier off."""
    frontier = Frontier(clock, share=1)
    found(frontier, took=60.0)
    assert frontier.scan().full


def test_what_a_full_scan_did_not_reach_is_walked_from_its_start(frontier: Frontier, clock: Seconds) -> None:
    """There may be jobs behind the frontier on every level: one full scan and what follows from it find them all."""
    found(frontier)
    again(clock)
    found(frontier, (6, at(9)), (6, at(8)))
    assert places(frontier) == {9: DRY, 8: DRY, 7: DRY, 6: at(8)}


def test_what_is_walked_from_its_start_counts_once(frontier: Frontier, clock: Seconds) -> None:
    """The scans that finish a full scan put the next one off as it did itself, but only while they get that far."""
    found(frontier, (6, at(9)), (6, at(8)), took=1.0)
    found(frontier, (6, at(7)), (6, at(6)), took=1.0)
    assert frontier.patience(None) == 19 * SECOND
    found(frontier, (6, at(5)), (2, at(9)), took=1.0)
    assert frontier.patience(None) == 38 * SECOND
    found(frontier, (2, at(8)), (2, at(7)), took=1.0)
    assert frontier.patience(None) == 38 * SECOND
    found(frontier, took=1.0)
    assert frontier.patience(None) == 57 * SECOND


def test_levels_that_came_back_short_go_on_from_the_clock_less_the_margin(frontier: Frontier) -> None:
    """What became due until then was claimed, or may not be; what is submitted now is not behind it."""
    found(frontier, (5, at(9)))
    assert places(frontier) == dict.fromkeys(LEVELS, DRY)
    assert DRY[0] < NOW


def test_the_level_that_reached_the_limit_goes_on_from_its_last_job(frontier: Frontier) -> None:
    """Higher levels were dry; lower ones were not looked at, and begin where they did."""
    found(frontier, (7, at(3)), (4, at(9, 40)), (4, at(9, 41)), limit=3)
    assert places(frontier) == {9: DRY, 8: DRY, 7: DRY, 6: DRY, 5: DRY, 4: at(9, 41)}


def test_lower_levels_stay_where_they_were(frontier: Frontier) -> None:
    """A batch of a higher level does not touch what is known about lower ones."""
    found(frontier, (3, at(9)), (3, at(8)))
    found(frontier, (6, at(2)), (6, at(1)), at=NOW + SECOND)
    later = NOW + SECOND - MARGIN, 0
    assert places(frontier) == {9: later, 8: later, 7: later, 6: at(1), 5: DRY, 4: DRY, 3: at(8)}


def test_a_full_scan_may_bring_a_level_further_back(frontier: Frontier, clock: Seconds) -> None:
    """There may be more than one batch behind the frontier."""
    found(frontier, (5, at(2)), (5, at(1)))
    again(clock)
    found(frontier, (5, at(60, 7)), (5, at(50, 8)))
    assert places(frontier)[5] == at(50, 8)


def test_the_whole_limit_on_the_highest_level_leaves_all_others_alone(frontier: Frontier) -> None:
    """Strict priorities: nothing is known about the rest."""
    found(frontier, (9, at(2)), (9, at(1)))
    assert places(frontier) == {9: at(1)}


def test_a_scan_keeps_the_places_it_began_with(frontier: Frontier) -> None:
    """What is heard while it is on its way does not change it."""
    found(frontier)
    scan = frontier.scan()
    found(frontier, at=NOW + SECOND)
    assert scan.places[5] == DRY


def test_patience_ends_with_the_next_full_scan(frontier: Frontier, clock: Seconds) -> None:
    """Something may be behind the frontier, whatever is due before it or after."""
    found(frontier, took=1.0)
    assert frontier.patience(None) == 19 * SECOND
    assert frontier.patience(60 * SECOND) == 19 * SECOND
    assert frontier.patience(3 * SECOND) == 3 * SECOND
    clock.now += 30
    assert frontier.patience(None) == timedelta(0)


def test_patience_counts_from_when_the_scan_was_sent(frontier: Frontier) -> None:
    """As the wait until the next job does: the shorter of both is told."""
    found(frontier)
    assert frontier.patience(None, 0.5) == 19.5 * SECOND
    assert frontier.patience(19.2 * SECOND, 0.5) == 19.2 * SECOND


def test_a_look_is_wanted_where_a_full_scan_takes_long(frontier: Frontier, clock: Seconds) -> None:
    """Only when one is due; a cheap one is the claim itself."""
    found(frontier, took=0.004)
    again(clock)
    assert not frontier.wants_a_look
    found(frontier, took=0.006)
    assert not frontier.wants_a_look
    again(clock)
    assert frontier.wants_a_look


def test_a_look_moves_levels_back_to_what_it_found(frontier: Frontier, clock: Seconds) -> None:
    """The next scan finds that very job; the other levels stay where they are."""
    found(frontier, took=1.0)
    frontier.looked({5: at(60, 7)}, 2.0)
    assert places(frontier) == {**dict.fromkeys(LEVELS, DRY), 5: at(60, 6)}
    assert frontier.patience(None) == 57 * SECOND


def test_a_look_never_moves_a_level_forward(frontier: Frontier) -> None:
    """Another look, or a claim, may have moved it further back meanwhile."""
    found(frontier, (5, at(60)), (5, at(50)))
    frontier.looked({5: at(40)}, 1.0)
    assert places(frontier)[5] == at(50)


def test_patience_lasts_as_long_as_the_last_full_scan_while_somebody_looks(
    frontier: Frontier, clock: Seconds
) -> None:
    """Then something may have been found."""
    found(frontier, took=1.0)
    again(clock)
    frontier.looking = True
    assert frontier.patience(None) == SECOND
    assert frontier.patience(SECOND / 2) == SECOND / 2
