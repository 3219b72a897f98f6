"""Where `fencepost bench` refuses to measure, and what it tells its reader."""

from typing import Any

import pytest

from fencepost.adapters.postgres.benching.server import Server
from fencepost.entrypoints.bench.conditions import CannotMeasure, check_server, check_settings, remarks
from fencepost.entrypoints.bench.plan import Plan
from fencepost.entrypoints.settings import load

DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}


def server(**facts: Any) -> Server:
    """A near, durable server where everything is allowed."""
    usual: dict[str, Any] = {
        "version": "18.1",
        "number": 180_001,
        "role": "ann",
        "database": "shop",
        "may_create": True,
        "read_only": False,
        "heeds_options": True,
        "durability": DURABLE,
        "round_trip": 0.1,
    }
    return Server(**usual | facts)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"number": 140_011, "version": "14.11"}, "15 or newer"),
        ({"may_create": False}, 'GRANT CREATE ON DATABASE "shop" TO "ann"'),
        ({"read_only": True}, "name the primary"),
        ({"heeds_options": False}, "behind a pooler"),
    ],
)
def test_a_server_that_cannot_be_measured_on_is_refused(facts: dict[str, Any], said: str) -> None:
    """With what to do."""
    with pytest.raises(CannotMeasure, match=said):
        check_server(server(**facts))


def test_a_usual_server_needs_no_remark() -> None:
    """Near and durable."""
    check_server(server())
    assert list(remarks(server())) == []
    assert list(remarks(server(durability=DURABLE | {"synchronous_commit": "remote_apply"}))) == []


@pytest.mark.parametrize(
    ("facts", "said", "loose"),
    [
        ({"durability": DURABLE | {"fsync": "off"}}, "fsync off", True),
        ({"durability": DURABLE | {"full_page_writes": "off"}}, "full_page_writes off", True),
        ({"durability": DURABLE | {"synchronous_commit": "off"}}, "synchronous_commit is off", False),
        ({"durability": DURABLE | {"synchronous_commit": "local"}}, "synchronous_commit is local", False),
        ({"round_trip": 4.2}, "round trip to the server takes 4.2 ms", False),
    ],
)
def test_what_colours_the_figures_is_told(facts: dict[str, Any], said: str, loose: bool) -> None:
    """One warning for each; Fencepost raises synchronous_commit itself, so that its figures stay durable ones."""
    [remark] = remarks(server(**facts))
    assert said in remark
    assert bool(server(**facts).loose) is loose


def test_without_wakeups_everything_but_latency_can_be_measured() -> None:
    """Nobody would be woken: what is measured would be the fallback poll."""
    check_settings(load({"wakeups": "false"}, {}), Plan(figures=("submit", "drain")))
