"""What an operator can see of schedules that nobody can read, and do about them."""

import psycopg
import pytest

from support.commands import Commands
from support.terminals import on_a_terminal

pytestmark = pytest.mark.unproven("it forges rows of schedules")

WHY = "schedule broken can't be read (Object missing required field `cron`): delete it, or replace"


@pytest.fixture
def broken(fencepost: Commands, database: str) -> Commands:
    """There are two schedules, and somebody has written into the row of one."""
    for name in ("broken", "sound"):
        fencepost.json("schedules", "add", name, "--cron", "@yearly", "--type", "report")
    forge(database, "'{}'")
    return fencepost


def forge(database: str, value: str) -> None:
    """Somebody writes into the row."""
    with psycopg.connect(database, autocommit=True) as connection:
        changed = f"UPDATE fencepost.schedules SET definition = {value} WHERE name = 'broken'"
        connection.execute(changed.encode())


def test_a_list_tells_of_it_beside_the_others(broken: Commands) -> None:
    """On stderr, so that programs read only what is whole."""
    done = broken.run("schedules", "list")
    assert (done.returncode, done.stdout.count("\n"), '"name": "sound"' in done.stdout) == (0, 1, True)
    assert WHY in done.stderr


@pytest.mark.parametrize(
    "command", [("show",), ("edit", "--priority", "1"), ("trigger",), ("resume",)], ids=" ".join
)
def test_what_needs_its_definition_says_what_is_wrong(broken: Commands, command: tuple[str, ...]) -> None:
    """As a conflict: nothing was changed."""
    done = broken.run("schedules", command[0], "broken", *command[1:])
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"error: {WHY}")


def test_it_can_be_paused_and_deleted(broken: Commands) -> None:
    """Then it is gone."""
    assert broken.json("schedules", "pause", "broken")["verdict"] == "accepted"
    assert broken.json("schedules", "delete", "broken", "--yes")["verdict"] == "accepted"
    assert broken.run("schedules", "list").stderr == ""


def test_a_schedule_whose_zone_is_gone_is_shown_without_fire_times(broken: Commands, database: str) -> None:
    """Its definition can be read: an edit of the zone mends it."""
    forge(
        database,
        """(SELECT definition || '{"tz": "Mars/Olympus"}' FROM fencepost.schedules WHERE name = 'sound')""",
    )
    shown = broken.json("schedules", "show", "broken")
    assert (shown["tz"], shown["words"], shown["next_fire_times"]) == ("Mars/Olympus", None, [])
    assert on_a_terminal(broken, "schedules", "show", "broken")[0] == 0
    broken.json("schedules", "edit", "broken", "--tz", "UTC")
    assert broken.json("schedules", "show", "broken")["words"] is not None
