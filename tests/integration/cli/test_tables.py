"""Tables for people on a screen of 80 columns."""

import re
from collections.abc import Callable

import pytest

from fencepost.entrypoints.cli import tables
from support.commands import Commands
from support.terminals import on_a_terminal

Submit = Callable[..., int]
LONG = "mail.newsletter.send_to_everybody_on_the_list"


@pytest.fixture
def dead(fencepost: Commands, submit: Submit) -> int:
    """A job whose handler gave up."""
    job = submit("doomed", "--reason", "please")
    worker = fencepost.worker()
    fencepost.run("jobs", "wait", str(job))
    worker.stop()
    return job


def screen(fencepost: Commands, *arguments: str) -> str:
    """What a terminal of 80 columns shows, no line longer than that."""
    _, shown = on_a_terminal(fencepost, *arguments, columns=80)
    assert max(map(len, shown.splitlines())) <= 80, shown
    return shown


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["jobs", "list"], ["job_id", "doomed", "default", "dead", "attempt", "failures", "run_at"]),
        (
            ["jobs", "history", "JOB"],
            ["enqueued", "claimed", "please", "discarded: no use", "attempt"],
        ),
        (["audit", "log"], ["position", "enqueued", "claimed", "job:JOB", "actor"]),
        (["dead", "list"], ["doomed", "default", "died_at", "discarded: no use"]),
        (["jobs", "show", "JOB"], ["state", "failures", "max_attempts", "discarded: no use"]),
        (["dead", "show", "JOB"], ["died_at", "discarded: no use"]),
        (["queues", "list"], ["name", "paused_at", "pending", "running"]),
    ],
)
def test_words_stay_whole_on_80_columns(
    fencepost: Commands, dead: int, command: list[str], words: list[str]
) -> None:
    """Ids, names, states and short notes are shown in one piece, times in seconds and UTC, and no raw data."""
    shown = screen(fencepost, *(part.replace("JOB", str(dead)) for part in command))
    for word in words:
        assert word.replace("JOB", str(dead)) in shown
    assert re.search(r"\.[0-9]{6}Z|\"", shown) is None


def test_a_dead_job_is_shown_with_its_last_error(fencepost: Commands, dead: int) -> None:
    """`show` and `wait` tell programs, too, what killed a job; a job put back has no error."""
    for command in ("show", "wait"):
        shown = fencepost.run("jobs", command, str(dead), "--output", "json").stdout
        assert '"error"' in shown
        assert "no use" in shown
    fencepost.run("jobs", "requeue", str(dead))
    assert fencepost.json("jobs", "show", str(dead))["error"] is None


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen of 80 columns."""
    monkeypatch.setattr(tables, "_width", lambda: 80)


@pytest.mark.usefixtures("narrow")
def test_a_note_that_must_be_whole_goes_on_below_its_row() -> None:
    """Line by line, broken between words; a word that is too long for a line is broken where the screen ends."""
    notes = ["take another name; " * 6 + "x" * 90, "short"]
    told = list(tables.many(("id", "name"), [("1", "a"), ("2", "b")], "note", notes, whole=True))
    *below, last = told[3:]
    assert max(map(len, told)) <= 80
    assert "".join(line.removeprefix("    ") for line in below).replace(" ", "") == notes[0].replace(" ", "")
    assert all(line.startswith("    ") for line in below)
    assert below[0].endswith(" take another name;")
    assert last.split() == ["2", "b", "short"]


@pytest.mark.usefixtures("narrow")
def test_a_note_without_room_goes_below_its_row() -> None:
    """Long notes are cut where the screen ends, on a line of their own when little room is left beside."""
    notes = ["KeyError: " + "x" * 90, ""]
    wide = list(tables.many(("id", "name"), [("1", "a" * 60), ("2", "b")], "note", notes))
    assert wide[3] == "    KeyError: " + "x" * 65 + "…"
    assert [line.split()[0] for line in wide] == ["id", "──", "1", "KeyError:", "2"]
    slim = list(tables.many(("id", "name"), [("1", "a"), ("2", "b")], "note", notes))
    assert len(slim) == 4
    assert slim[2].endswith("x…")
    assert max(map(len, wide + slim)) == 80


@pytest.mark.usefixtures("narrow")
def test_names_are_whole_even_where_the_screen_is_too_small() -> None:
    """A table gets wider than the screen before a name is cut; workers' ids lose their middle first."""
    worker = "worker:some-machine.example.org-4711-0123456789ab"
    rows = [("1", LONG, "running", worker)]
    *_, row = tables.many(("job_id", "type", "state", "worker"), rows)
    assert LONG in row
    assert worker not in row
    assert row.endswith("789ab")
