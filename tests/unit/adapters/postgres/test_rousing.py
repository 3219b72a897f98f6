"""One look at the idle flags for all who committed before it."""

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.query import Query, Row
from fencepost.adapters.postgres.rousing import Rouser
from fencepost.domain.errors import Unavailable


class Looks:
    """A database that lets each look take as long as the test wants."""

    schema = "fencepost"

    def __init__(self) -> None:
        """Nobody has looked yet."""
        self.queues: list[list[str]] = []
        self.gate = asyncio.Event()
        self.broken = False

    async def execute(self, query: Query) -> Sequence[Row]:
        """Look, once the gate is open."""
        self.queues.append(query.parameters["queues"])
        await self.gate.wait()
        if self.broken:
            raise Unavailable("away")
        return ()


async def begun(looks: Looks, number: int) -> None:
    """Return when so many looks have begun, and whoever else wants one waits for its turn."""
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(looks.queues) == number


def rouser_over(looks: Looks) -> Rouser:
    """A rouser that looks there."""
    return Rouser(cast(Database, looks))


async def test_those_who_come_during_a_look_share_the_next() -> None:
    """B114: A look that had begun may have missed their idle worker; one more serves them all."""
    looks = Looks()
    rouser = rouser_over(looks)
    calls = [asyncio.create_task(rouser.rouse(["a"]))]
    await begun(looks, 1)
    calls += [asyncio.create_task(rouser.rouse([name])) for name in ("c", "b", "b", "a")]
    await begun(looks, 1)
    looks.gate.set()
    await asyncio.gather(*calls)
    assert looks.queues == [["a"], ["a", "b", "c"]]


async def test_nobody_returns_before_a_look_of_its_own_time_is_over() -> None:
    """The look under way does not count for who came after its beginning."""
    looks = Looks()
    rouser = rouser_over(looks)
    first = asyncio.create_task(rouser.rouse(["a"]))
    await begun(looks, 1)
    second = asyncio.create_task(rouser.rouse(["a"]))
    looks.gate.set()
    await first
    assert not second.done() or len(looks.queues) == 2
    await second
    assert len(looks.queues) == 2


async def test_a_look_that_is_given_up_is_made_by_the_next() -> None:
    """Cancelling one submitter leaves the others' queues to whoever is next."""
    looks = Looks()
    rouser = rouser_over(looks)
    calls = [asyncio.create_task(rouser.rouse(["a"]))]
    await begun(looks, 1)
    calls += [asyncio.create_task(rouser.rouse([name])) for name in ("b", "c")]
    await begun(looks, 1)
    calls[0].cancel()
    await begun(looks, 2)
    looks.gate.set()
    await asyncio.gather(*calls[1:])
    assert looks.queues == [["a"], ["a", "b", "c"]]
    with pytest.raises(asyncio.CancelledError):
        await calls[0]


async def test_trouble_is_nobodys_affair() -> None:
    """What was committed stays committed: a look that fails raises nothing and is not repeated."""
    looks = Looks()
    looks.broken = True
    looks.gate.set()
    await rouser_over(looks).rouse(["a"])
    assert looks.queues == [["a"]]


async def test_without_a_queue_nobody_looks() -> None:
    """A job that is due later needs no worker now."""
    looks = Looks()
    await rouser_over(looks).rouse([])
    assert looks.queues == []
