"""`fencepost schedules import-crontab`: a crontab is shown, taken over, and followed when it changes."""

import getpass
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from fencepost.entrypoints.cli.schedules import crontab
from support.commands import Commands
from support.polling import eventually
from support.terminals import on_a_terminal

CRONTAB = """\
MAILTO=ops@example.com
PATH=/usr/local/bin:/usr/bin:/bin
# nightly
30 2 * * MON-FRI  /opt/backup --all
@reboot           /opt/warm-up
*/5 * * * *       date +\\%F; cat%one%two
"""
Import = Callable[..., CompletedProcess[str]]


@pytest.fixture
def file(fencepost: Commands) -> Path:
    """A crontab in the commands' folder."""
    file = fencepost.folder / "jobs.cron"
    file.write_text(CRONTAB)
    return file


@pytest.fixture
def importing(fencepost: Commands, file: Path) -> Import:
    """Imports it, without a terminal."""
    return lambda *arguments: fencepost.run("schedules", "import-crontab", str(file), *arguments)


def steps(done: CompletedProcess[str]) -> list[tuple[int | None, str]]:
    """Lines and what becomes of them."""
    return [(record["line"], record["step"]) for record in map(json.loads, done.stdout.splitlines())]


def schedules(fencepost: Commands) -> dict[str, dict[str, Any]]:
    """Those that are there, by the last part of their names."""
    return {
        record["name"].rpartition("/")[2].rpartition("-")[0]: record
        for record in fencepost.lines("schedules", "list")
    }


def users(fencepost: Commands) -> dict[str, str | None]:
    """Whom the workers of each schedule's jobs must run as."""
    shown = {
        name: fencepost.json("schedules", "show", one["name"]) for name, one in schedules(fencepost).items()
    }
    return {name: one["job"]["payload"].get("user") for name, one in shown.items()}


def test_a_dry_run_shows_what_was_understood(fencepost: Commands, importing: Import) -> None:
    """Line by line, with words, fire times and refusals; notes are told beside the data; nothing is stored."""
    done = importing("--dry-run", "--tz", "Europe/Oslo")
    backup, reboot, date = map(json.loads, done.stdout.splitlines())
    assert steps(done) == [(4, "create"), (5, "refused"), (6, "create")]
    assert (backup["cron"], backup["tz"]) == ("30 2 * * MON-FRI", "Europe/Oslo")
    assert backup["name"].startswith("crontab/jobs.cron/backup-")
    assert backup["words"].startswith("At 02:30 on Monday to Friday, Europe/Oslo")
    assert backup["next_fire_at"].endswith("Z")
    assert backup["payload"]["command"] == "/opt/backup --all"
    assert backup["payload"]["environment"]["PATH"] == "/usr/local/bin:/usr/bin:/bin"
    assert date["payload"]["command"] == "date +%F; cat"
    assert date["payload"]["stdin"] == "one\ntwo\n"
    assert "a schedule belongs to no machine that starts" in reboot["reason"]
    assert "systemd" in reboot["instead"]
    assert "line 1: MAILTO: no mail is sent to ops@example.com" in done.stderr
    assert "user crontab: 2 to create, 1 refused" in done.stderr
    assert done.returncode == 1
    assert schedules(fencepost) == {}


def test_a_dry_run_needs_no_database(bare: Commands) -> None:
    """It says that nothing was compared; anything else needs one."""
    (bare.folder / "jobs.cron").write_text("@daily /opt/backup\n")
    done = bare.run("schedules", "import-crontab", "jobs.cron", "--dry-run")
    assert (done.returncode, steps(done)) == (0, [(1, "create")])
    assert "compared with no schedules" in done.stderr
    assert bare.run("schedules", "import-crontab", "jobs.cron", "--yes").returncode == 2


def test_a_table_shows_the_whole_of_what_to_do_about_a_line(importing: Import, file: Path) -> None:
    """However long the line is."""
    file.write_text(f"@reboot /opt/warm-up {'x' * 150}\n")
    told = importing("--dry-run", "--output", "table").stdout
    assert "leave it to that machine, for instance to a systemd unit or its own cron" in " ".join(
        told.split()
    )


def test_lines_become_schedules_that_do_what_cron_did(fencepost: Commands, importing: Import) -> None:
    """The refused line is the exit code's reason; the history knows who did it and why."""
    done = importing("--yes", "--queue", "night", "--reason", "leaving cron")
    assert (done.returncode, "created 2, changed 0, deleted 0" in done.stderr) == (1, True)
    backup = schedules(fencepost)["backup"]
    assert (backup["missed"], backup["overlap"], backup["tz"]) == ("skip", "allow", "UTC")
    assert backup["job"]["type"] == "shell.run"
    assert (backup["job"]["queue"], backup["job"]["max_attempts"], backup["job"]["timeout"]) == (
        "night",
        1,
        None,
    )
    told = fencepost.lines("audit", "log", "--name", "schedule_created")
    assert [event["reason"] for event in told] == ["leaving cron"] * 2
    assert fencepost.json("audit", "verify")["clean"]


def test_without_a_terminal_it_takes_a_yes(fencepost: Commands, importing: Import) -> None:
    """What would be done is shown all the same."""
    done = importing()
    assert (done.returncode, len(steps(done))) == (2, 3)
    assert "--yes" in done.stderr
    assert schedules(fencepost) == {}


def test_on_a_terminal_somebody_is_asked(fencepost: Commands, file: Path) -> None:
    """No is no and exit code 1, and yes is yes; the table tells the command and the words."""
    code, screen = on_a_terminal(fencepost, "schedules", "import-crontab", str(file), typed="n\n")
    assert (code, "nothing was changed" in screen) == (1, True)
    assert "At 02:30 on Monday to Friday, UTC: /opt/backup --all" in screen
    assert schedules(fencepost) == {}
    on_a_terminal(fencepost, "schedules", "import-crontab", str(file), typed="y\n")
    assert schedules(fencepost).keys() == {"backup", "date"}


def test_run_again_it_follows_the_file(fencepost: Commands, importing: Import, file: Path) -> None:
    """Nothing to do; then a change, shown and applied; then a vanished line, deleted when it is said."""
    file.write_text(CRONTAB.replace("@reboot", "# @reboot"))
    assert importing("--yes").returncode == 0
    again = importing("--yes")
    assert (again.returncode, steps(again)) == (0, [(4, "keep"), (6, "keep")])
    assert "created" not in again.stderr
    file.write_text("30 3 * * MON-FRI /opt/backup --all\n")
    changed = importing("--yes")
    assert steps(changed) == [(1, "change"), (None, "vanished")]
    first = json.loads(changed.stdout.splitlines()[0])
    assert "cron: '30 2 * * MON-FRI' becomes '30 3 * * MON-FRI'" in first["changes"]
    assert schedules(fencepost)["backup"]["cron"] == "30 3 * * MON-FRI"
    assert "--prune" in changed.stderr
    assert schedules(fencepost).keys() == {"backup", "date"}
    pruned = importing("--yes", "--prune")
    assert (pruned.returncode, "--prune" in pruned.stderr) == (0, False)
    assert "changed 0, deleted 1" in pruned.stderr
    assert schedules(fencepost).keys() == {"backup"}


def test_nothing_is_pruned_while_a_line_is_refused(
    fencepost: Commands, importing: Import, file: Path
) -> None:
    """A mistyped line must not cost its schedule."""
    file.write_text("0 1 * * * /opt/backup\n")
    importing("--yes")
    file.write_text("O 1 * * * /opt/backup\n")
    done = importing("--yes", "--prune")
    assert (done.returncode, [*schedules(fencepost)]) == (2, ["backup"])
    assert "--prune: must wait" in done.stderr


def test_with_another_prefix_the_schedules_of_before_are_renamed_and_not_vanished(
    fencepost: Commands, importing: Import, file: Path
) -> None:
    """Their lines are there still: what fires twice is said, and pruned when asked; a line that goes vanishes."""
    file.write_text("0 1 * * * /opt/backup\n0 2 * * * /opt/clean\n")
    importing("--yes")
    [before, *_] = [one["name"] for one in schedules(fencepost).values()]
    file.write_text("0 1 * * * /opt/backup\n")
    done = importing("--yes", "--prefix", "ops/")
    assert steps(done) == [(1, "create"), (None, "renamed"), (None, "vanished")]
    created, renamed, _ = map(json.loads, done.stdout.splitlines())
    assert (renamed["name"], renamed["renamed_to"]) == (before, created["name"])
    assert "1 to create, 1 renamed, 1 vanished" in done.stderr
    assert "of another --prefix fire beside the new ones: delete them with --prune" in done.stderr
    again = importing("--yes", "--prefix", "ops/", "--prune")
    assert steps(again) == [(1, "keep"), (None, "renamed"), (None, "vanished")]
    assert [one["name"] for one in schedules(fencepost).values()] == [created["name"]]


def test_two_crontabs_under_one_prefix_do_not_mix(fencepost: Commands, importing: Import, file: Path) -> None:
    """The second is told whose the names are, and changes nothing; told to, it takes them over."""
    importing("--yes", "--prefix", "ops/")
    other = file.with_name("other.cron")
    other.write_text("0 1 * * * /opt/new\n0 1 * * * /opt/backup --all\n")
    again = ("schedules", "import-crontab", str(other), "--prefix", "ops/", "--yes")
    done = fencepost.run(*again)
    assert (done.returncode, steps(done)) == (4, [(1, "create"), (2, "in the way")])
    assert str(file) in json.loads(done.stdout.splitlines()[1])["reason"]
    assert schedules(fencepost).keys() == {"backup", "date"}
    assert fencepost.run(*again, "--take-over").returncode == 0
    assert schedules(fencepost)["backup"]["cron"] == "0 1 * * *"
    assert schedules(fencepost).keys() == {"backup", "date", "new"}


def test_users_of_a_system_crontab_are_not_lent_the_workers_rights(fencepost: Commands, file: Path) -> None:
    """A line of the importing user is taken, and its jobs run as nobody else; others need a word."""
    me = getpass.getuser()
    file.write_text(f"0 1 * * * {me} /opt/own\n0 1 * * * somebody-else /opt/foreign\n")
    arguments = ("schedules", "import-crontab", str(file), "--system", "--yes")
    done = fencepost.run(*arguments)
    assert (done.returncode, steps(done)) == (1, [(1, "create"), (2, "refused")])
    assert "--as-worker" in json.loads(done.stdout.splitlines()[1])["instead"]
    assert users(fencepost) == {"own": me}
    assert fencepost.run(*arguments, "--as-worker").returncode == 0
    assert users(fencepost) == {"own": None, "foreign": None}


def test_as_whom_commands_run_is_told_of_the_lines_that_are_taken_over(
    fencepost: Commands, file: Path
) -> None:
    """Of all of them, user by user, and of none that was refused."""
    me = getpass.getuser()
    file.write_text(
        f"0 1 * * * {me} a\n0 2 * * * other b\n0 3 * * * {me} c\n0 4 * * * other d\n@reboot other e\n"
    )
    arguments = ("schedules", "import-crontab", str(file), "--system", "--dry-run")
    told = fencepost.run(*arguments).stderr
    assert f"lines 1, 3: run only on workers of the user {me}; " in told
    assert "not as" not in told
    told = fencepost.run(*arguments, "--as-worker").stderr
    assert "lines 2, 4: commands run as the user of the worker that gets them, not as other\n" in told
    assert f"lines 1, 3: commands run as the user of the worker that gets them, not as {me}\n" in told
    assert "run only on" not in told


@pytest.mark.parametrize(
    ("zone", "arguments", "told"),
    [("Europe/Oslo", [], True), ("Europe/Oslo", ["--tz", "UTC"], False), ("Etc/UTC", [], False)],
)
def test_where_cron_has_another_zone_it_is_told(
    importing: Import,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    zone: str,
    arguments: tuple[str, ...],
    told: bool,
) -> None:
    """A crontab does not say whose clock it means."""
    link = tmp_path / "localtime"
    link.symlink_to(f"/usr/share/zoneinfo/{zone}")
    monkeypatch.setattr(crontab, "LOCAL_TIME", link)
    assert (f"--tz {zone}" in importing("--dry-run", *arguments).stderr) is told


def test_a_crontab_can_come_from_stdin(fencepost: Commands) -> None:
    """As `crontab -l` writes it."""
    done = fencepost.run("schedules", "import-crontab", "-", "--yes", stdin="@hourly /opt/backup\n")
    assert done.returncode == 0
    assert schedules(fencepost)["backup"]["name"].startswith(f"crontab/{getpass.getuser()}/")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("no-such-file",), "FILE"),
        (("jobs.cron", "--system", "--user"), "--system"),
        (("jobs.cron", "--tz", "Mars"), "tz"),
        (("jobs.cron", "--prefix", "a b"), "prefix"),
        (("jobs.cron", "--queue", "a b"), "queue"),
    ],
)
def test_a_bad_argument_is_one_line(
    fencepost: Commands, file: Path, arguments: tuple[str, ...], field: str
) -> None:
    """It names the argument, and nothing else is said."""
    assert file.exists()
    done = fencepost.run("schedules", "import-crontab", *arguments, "--yes")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: {field}: ")


def test_a_line_that_is_no_utf_8_is_refused_alone(fencepost: Commands, file: Path) -> None:
    """The others are read."""
    file.write_bytes(b"0 1 * * * /opt/caf\xe9\n0 1 * * * /opt/backup\n")
    done = fencepost.run("schedules", "import-crontab", str(file), "--yes")
    assert (done.returncode, steps(done)) == (1, [(1, "refused"), (2, "create")])


def test_an_imported_line_runs_with_its_input_at_its_fire_time(fencepost: Commands, file: Path) -> None:
    """From the file to the result, through scheduler and worker; triggered, since a minute is long."""
    file.write_text("GREETING=hello\n0 0 1 1 * echo $GREETING; cat%world\n")
    fencepost.run("schedules", "import-crontab", str(file), "--yes")
    worker = fencepost.start("worker", "--allow-shell")
    worker.said("worker started")
    [schedule] = schedules(fencepost).values()
    fencepost.json("schedules", "trigger", schedule["name"])
    [job] = eventually(lambda: fencepost.lines("jobs", "list"), within=10)
    done = json.loads(fencepost.run("jobs", "wait", str(job["job_id"])).stdout)
    assert (done["state"], done["result"]["stdout"]) == ("succeeded", "hello\nworld\n")
