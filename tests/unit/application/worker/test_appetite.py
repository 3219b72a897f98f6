"""Which queues are worth a claim."""

from datetime import timedelta

import pytest

from fencepost.application.worker.appetite import Appetite
from support.local_time import MovedTime

ROOM = {"mail": 2, "default": 1}


@pytest.fixture
def time() -> MovedTime:
    """Time that the test moves."""
    return MovedTime()


@pytest.fixture
def room() -> dict[str, int]:
    """Free slots by queue."""
    return dict(ROOM)


@pytest.fixture
def appetite(time: MovedTime, room: dict[str, int]) -> Appetite:
    """Two queues with free slots, polled every second."""
    return Appetite(ROOM, ROOM.__getitem__, lambda queue: room[queue], time, 1.0)


def test_every_queue_is_asked_for_as_much_as_there_is_room(appetite: Appetite) -> None:
    """In the order the queues were given."""
    assert list(appetite.servings()) == [("mail", 2), ("default", 1)]


def test_a_queue_without_room_is_not_asked(appetite: Appetite, room: dict[str, int]) -> None:
    """Also when the room would be negative."""
    room.update(mail=0, default=-3)
    assert list(appetite.servings()) == []


def test_a_queue_that_was_emptied_is_not_asked_again(appetite: Appetite) -> None:
    """The others are."""
    appetite.emptied("mail", 0, None)
    assert list(appetite.servings()) == [("default", 1)]
    assert appetite.starving


def test_a_wake_up_during_the_claim_counts(appetite: Appetite) -> None:
    """The claim may have looked before the job was there."""
    assert dict(appetite.servings()) == ROOM
    appetite.wake({"mail"})
    appetite.emptied("mail", 0, None)
    appetite.emptied("default", 0, None)
    assert dict(appetite.servings()) == {"mail": 2}


async def test_a_dry_queue_is_asked_when_its_next_job_is_due(appetite: Appetite, time: MovedTime) -> None:
    """The sleep is as long as the claim said, not as long as the poll."""
    appetite.emptied("mail", 0, timedelta(seconds=0.25))
    appetite.emptied("default", 0, timedelta(seconds=5))
    assert appetite.patience() == 0.25
    await time.advance(0.25)
    appetite.refresh()
    assert dict(appetite.servings()) == {"mail": 2}


async def test_the_time_until_the_next_job_is_due_counts_from_the_sending(
    appetite: Appetite, time: MovedTime
) -> None:
    """What the claim took is not slept once more."""
    await time.advance(0.5)
    appetite.emptied("mail", 0.4, timedelta(seconds=0.25))
    assert appetite.patience() == pytest.approx(0.15)


async def test_the_poll_asks_everything(appetite: Appetite, time: MovedTime) -> None:
    """A lost wake-up costs at most a second."""
    appetite.emptied("mail", 0, None)
    appetite.emptied("default", 0, None)
    assert appetite.patience() == 1.0
    await time.advance(1)
    appetite.refresh()
    assert dict(appetite.servings()) == ROOM
    assert appetite.patience() == 1.0


def test_a_full_queue_does_not_starve(appetite: Appetite, room: dict[str, int]) -> None:
    """No wake-up could fill slots that are not free."""
    appetite.emptied("mail", 0, None)
    room["mail"] = 0
    assert not appetite.starving
