"""How late decisions were, as people read it."""

import json
import re
from datetime import timedelta
from subprocess import CompletedProcess

import pytest

from fencepost.domain.invariants import standing
from fencepost.entrypoints.cli.schedules import lateness as cli
from fencepost.entrypoints.cli.schedules.lateness import lateness, span
from support.commands import Commands
from support.polling import eventually

ASKED = "late schedules: 1 (does a `fencepost scheduler` run?)\n"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0ms"),
        (0.0129, "12ms"),
        (0.999, "999ms"),
        (1, "1s"),
        (61.5, "1m1s"),
        (3_600, "1h"),
        (3_605, "1h"),
        (21_660, "6h1m"),
        (86_400 * 40 + 3_600, "40d1h"),
    ],
)
def test_a_span_has_its_largest_unit_and_the_next(seconds: float, text: str) -> None:
    """What is smaller is left out."""
    assert span(timedelta(seconds=seconds)) == text


def test_only_the_clocks_decisions_can_be_late() -> None:
    """A backfill decides about the past by intent."""
    row = {"fire_at": "2030-01-01T00:00:00.000000Z", "decided_at": "2030-01-01T00:01:00.000000Z"}
    assert lateness({**row, "origin": "cron"}) == "1m"
    assert lateness({**row, "origin": "backfill:1"}) == ""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits at all for its decision is late."""
    for module in (standing, cli):
        monkeypatch.setattr(module, "DECISION_GRACE", timedelta(0))


@pytest.mark.usefixtures("impatient")
def test_a_history_with_a_late_schedule_is_not_clean(fencepost: Commands) -> None:
    """Though no promise is broken: JSON says what the exit code says, and a scheduler is asked after."""
    fencepost.json("schedules", "add", "poll", "--cron", "every 1s", "--type", "poll")
    fencepost.json("schedules", "add", "yearly", "--cron", "@yearly", "--type", "poll")
    done = eventually(lambda: _failed(fencepost, "audit", "verify"), within=10)
    assert done is not None
    report = json.loads(done.stdout)
    assert (done.returncode, report["clean"], report["violations"]) == (1, False, [])
    assert done.stderr.endswith(f": no violations, {ASKED}")


@pytest.mark.usefixtures("impatient")
def test_the_list_shows_which_schedules_are_late(fencepost: Commands) -> None:
    """By how much, and how many they are; a table has nothing where nothing is late and nothing has drifted."""
    fencepost.json("schedules", "add", "poll", "--cron", "every 1s", "--type", "poll")
    fencepost.json("schedules", "add", "yearly", "--cron", "@yearly", "--type", "poll")
    assert eventually(lambda: fencepost.run("schedules", "list").stderr == ASKED, within=10)
    _, _, poll, yearly = fencepost.run("schedules", "list", "--output", "table").stdout.splitlines()
    assert re.search(r"Z  \d+m?s +poll$", poll)
    assert re.search(r"Z +poll$", yearly)


def test_a_schedule_within_the_grace_is_not_late(fencepost: Commands) -> None:
    """A minute is for schedulers to come back."""
    fencepost.json("schedules", "add", "poll", "--cron", "every 1s", "--type", "poll")
    assert fencepost.run("schedules", "list").stderr == ""
    assert fencepost.json("audit", "verify")["clean"]


def _failed(fencepost: Commands, *command: str) -> CompletedProcess[str] | None:
    done = fencepost.run(*command)
    return done if done.returncode else None
