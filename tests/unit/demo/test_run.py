"""The demo's course of events, where it goes wrong."""

from typing import Any, cast

import pytest

from fencepost.entrypoints.demo.client import Client
from fencepost.entrypoints.demo.faults import DemoFailed
from fencepost.entrypoints.demo.run import Demo

NOBODY = cast(Any, None)


class Unstruck(Demo):
    """Its jobs come in, and nothing can be struck."""

    async def _submit(self, client: Client) -> None:
        """Submit nothing."""

    async def _strike(self) -> tuple[int, int]:
        """Wait in vain."""
        raise DemoFailed("waited in vain")


async def test_what_fails_under_fire_is_told_as_it_is() -> None:
    """By the error that the command explains, not by a group of errors."""
    demo = Unstruck(NOBODY, NOBODY, NOBODY, 1, [])
    with pytest.raises(DemoFailed, match="waited in vain"):
        await demo._under_fire(NOBODY)
