"""How many jobs one claim may ask for."""

from typing import cast

import pytest

from fencepost.application.worker.bell import Bell
from fencepost.application.worker.ledger import Ledger
from fencepost.application.worker.reporting import Reporting
from fencepost.application.worker.rooms import Rooms
from fencepost.application.worker.settings import WorkerSettings
from support.local_time import MovedTime


class Prefetched:
    """Stands in for what waits: how much may, and how much does."""

    def __init__(self) -> None:
        """Nobody waits, and nobody may."""
        self.may, self.do = 0, 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self.do

    def most(self, _queue: str) -> int:
        """Return how many may."""
        return self.may

    def room(self, _queue: str) -> int:
        """Return how many more may."""
        return self.may - self.do


class Unreported:
    """Stands in for the reports."""

    unreported = 0


@pytest.fixture
def waiting() -> Prefetched:
    """What waits."""
    return Prefetched()


@pytest.fixture
def reports() -> Unreported:
    """Results without a verdict."""
    return Unreported()


@pytest.fixture
def rooms(waiting: Prefetched, reports: Unreported) -> Rooms:
    """Ten slots, all free; 50 jobs in a claim, 100 results without a verdict."""
    settings = WorkerSettings(worker="w", queues={"default": 10}, batch=50, max_unreported=100)
    ledger = Ledger(settings.queues, Bell(MovedTime()), Bell(MovedTime()))
    ledger.prefetch = waiting  # type: ignore[assignment]  # the numbers alone
    return Rooms(settings, ledger, cast(Reporting, reports))


def test_without_measurements_there_is_room_for_free_slots(rooms: Rooms) -> None:
    """And for no more."""
    assert (rooms.now("default"), rooms.most("default")) == (10, 10)


def test_who_may_wait_is_asked_for_as_well(rooms: Rooms, waiting: Prefetched) -> None:
    """Less those who do already."""
    waiting.may = 30
    assert (rooms.now("default"), rooms.most("default")) == (40, 40)
    waiting.do = 25
    assert (rooms.now("default"), rooms.most("default")) == (15, 40)


def test_a_claim_is_no_larger_than_a_batch(rooms: Rooms, waiting: Prefetched) -> None:
    """However many may wait."""
    waiting.may = 1_000
    assert (rooms.now("default"), rooms.most("default")) == (50, 50)


def test_results_without_a_verdict_and_those_who_wait_leave_less_room(
    rooms: Rooms, waiting: Prefetched, reports: Unreported
) -> None:
    """Together they stay below their bound."""
    waiting.may, waiting.do, reports.unreported = 1_000, 60, 35
    assert rooms.now("default") == 5
    reports.unreported = 45
    assert rooms.now("default") <= 0


def test_a_small_bound_of_results_bounds_the_largest_claim(
    waiting: Prefetched, reports: Unreported, rooms: Rooms
) -> None:
    """Or a worker would wait for room that never comes."""
    waiting.may = 1_000
    settings = WorkerSettings(worker="w", queues={"default": 10}, max_unreported=20)
    bounded = Rooms(settings, rooms.ledger, cast(Reporting, reports))
    assert bounded.now("default") == bounded.most("default") == 20
