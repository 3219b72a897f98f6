"""One look at the idle flags for all who committed before it."""

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from fencepost.adapters.postgres import rousing
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


async def settled() -> None:
    """Let everybody get as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


def rouser_over(looks: Looks) -> Rouser:
    """A rouser that looks there."""
    return Rouser(cast(Database, looks))


@pytest.fixture
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """One look may follow the other at once."""
    monkeypatch.setattr(rousing, "REST", 0)


@pytest.fixture
def exhausted(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a look none is made for an hour."""
    monkeypatch.setattr(rousing, "LONGEST_REST", 3_600.0)
    monkeypatch.setattr(rousing, "REST", 1e12)


@pytest.mark.usefixtures("exhausted")
async def test_who_is_alone_looks_at_once_and_waits_for_it() -> None:
    """When its submit returns, idle workers have been told, however short ago the last look was."""
    looks = Looks()
    rouser = rouser_over(looks)
    call = asyncio.create_task(rouser.rouse(["a"]))
    await settled()
    assert not call.done()
    looks.gate.set()
    await call
    await rouser.rouse(["b"])
    assert looks.queues == [["a"], ["b"]]


async def test_those_who_come_during_a_look_share_the_next() -> None:
    """B114: A look that had begun may have missed their idle worker; one more serves them all, and they do not wait."""
    looks = Looks()
    rouser = rouser_over(looks)
    first = asyncio.create_task(rouser.rouse(["a"]))
    await settled()
    for name in ("c", "b", "b", "a"):
        await rouser.rouse([name])
    assert looks.queues == [["a"]]
    looks.gate.set()
    await first
    assert looks.queues == [["a"], ["a", "b", "c"]]


@pytest.mark.usefixtures("exhausted")
async def test_while_others_are_under_way_one_looks_for_all() -> None:
    """B114: However fast submits follow each other, looks take a small share of the time; the last one makes one."""
    looks = Looks()
    looks.gate.set()
    rouser = rouser_over(looks)
    await rouser.rouse(["a"])
    with rouser.submitting():
        for name in ("b", "c"):
            with rouser.submitting():
                await settled()
            await rouser.rouse([name])
        assert looks.queues == [["a"]]
    await rouser.rouse()
    assert looks.queues == [["a"], ["b", "c"]]


@pytest.mark.usefixtures("restless")
async def test_after_a_rest_a_look_is_made_though_others_are_under_way() -> None:
    """Nobody is put off for ever on a machine that is always busy."""
    looks = Looks()
    looks.gate.set()
    rouser = rouser_over(looks)
    with rouser.submitting():
        await rouser.rouse(["a"])
        await rouser.rouse(["b"])
    assert looks.queues == [["a"], ["b"]]


async def test_a_look_that_is_given_up_is_made_by_the_next() -> None:
    """Cancelling one submitter forgets neither its own queue nor the others'."""
    looks = Looks()
    rouser = rouser_over(looks)
    first = asyncio.create_task(rouser.rouse(["a"]))
    await settled()
    await rouser.rouse(["b"])
    first.cancel()
    await settled()
    assert first.cancelled()
    looks.gate.set()
    await rouser.rouse()
    assert looks.queues == [["a"], ["a", "b"]]


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
