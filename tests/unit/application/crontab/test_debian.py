"""Crontabs that Debian's packages install, as they are in Debian 12."""

from itertools import islice
from pathlib import Path

import pytest

from fencepost.application.crontab.definitions import Terms, wanted
from fencepost.application.crontab.found import Crontab
from fencepost.application.crontab.reading import read_crontab
from fencepost.application.shell import shell_command
from fencepost.domain.scheduling import check_definition
from fencepost.domain.values import decode
from support.schedules import MIDNIGHT

FOLDER = Path(__file__).parent / "debian"
ENTRIES = {
    "amavisd-new": [("18 */3 * * *", "amavis"), ("24 1 * * *", "amavis")],
    "anacron": [("30 7-23 * * *", "root")],
    "atop": [("0 0 * * *", "root")],
    "awstats": [("*/10 * * * *", "www-data"), ("10 03 * * *", "www-data")],
    "backupninja": [("0 * * * *", "root")],
    "certbot": [("0 */12 * * *", "root")],
    "crontab": [
        ("17 * * * *", "root"),
        ("25 6 * * *", "root"),
        ("47 6 * * 7", "root"),
        ("52 6 1 * *", "root"),
    ],
    "dma": [("*/5 * * * *", "root")],
    "e2fsprogs": [("30 3 * * 0", "root"), ("10 3 * * *", "root")],
    "logcheck": [("2 * * * *", "logcheck")],
    "mailman3": [("0 8 * * *", "list"), ("0 12 * * *", "list")],
    "mdadm": [("57 0 * * 0", "root")],
    "munin": [
        ("*/5 * * * *", "munin"),
        ("14 10 * * *", "munin"),
        ("27 03 * * *", "munin"),
        ("32 03 * * *", "www-data"),
    ],
    "munin-node": [("*/5 * * * *", "root")],
    "ntpsec": [("25 6 * * *", "root")],
    "php-common": [("09,39 * * * *", "root")],
    "sysstat": [("5-55/10 * * * *", "root"), ("59 23 * * *", "root")],
}


def read(package: str) -> Crontab:
    """What a package's crontab says."""
    return read_crontab((FOLDER / package).read_text(), prefix=f"crontab/{package}/")


def test_there_is_a_crontab_for_each() -> None:
    """And that of anacron, which is none."""
    assert {file.name for file in FOLDER.iterdir()} == {*ENTRIES, "anacrontab"}


@pytest.mark.parametrize("package", ENTRIES)
def test_all_lines_are_understood(package: str) -> None:
    """As lines of a system crontab, though nobody says so; only @reboot is refused."""
    found = read(package)
    assert found.format == "system"
    assert [(entry.expression, entry.user) for entry in found.entries] == ENTRIES[package]
    assert [refusal.text.split()[0] for refusal in found.refusals] == ["@reboot"] * (package == "logcheck")


@pytest.mark.parametrize("package", ENTRIES)
def test_all_entries_can_be_schedules(package: str) -> None:
    """With a payload that the handler understands, and a next fire time."""
    for entry in read(package).entries:
        definition = check_definition(wanted(entry, Terms(source="here", user="ann", as_worker=True)))
        payload = decode("payload", definition.template.payload or "")
        assert isinstance(payload, dict)
        assert shell_command(payload).command == entry.command
        times = definition.starting(MIDNIGHT).timing.recurrence.times(MIDNIGHT)
        assert len(list(islice(times, 3))) == 3


def test_what_the_shell_gets_is_what_cron_gives_it() -> None:
    """Escaped percent signs are percent signs; everything else is left to the shell."""
    [mdadm] = read("mdadm").entries
    assert "[ $(date +%d) -le 7 ]" in mdadm.command
    assert mdadm.stdin is None
    [certbot] = read("certbot").entries
    assert certbot.command.startswith(
        r"test -x /usr/bin/certbot -a \! -d /run/systemd/system && perl -e 'sleep"
    )
    assert certbot.environment["SHELL"] == "/bin/sh"
    assert read("atop").entries[0].command.endswith("/usr/share/atop/atop.daily&")


def test_settings_hold_for_the_lines_below_them() -> None:
    """Those of the package that needs its own PATH."""
    assert {entry.environment["PATH"].split(":")[0] for entry in read("sysstat").entries} == {
        "/usr/lib/sysstat"
    }


def test_all_names_are_different_and_readable() -> None:
    """Over all packages together."""
    names = [entry.name for package in ENTRIES for entry in read(package).entries]
    assert len(set(names)) == len(names) == sum(map(len, ENTRIES.values()))
    assert {name.rpartition("-")[0] for name in names if "/crontab/" in name} == {
        "crontab/crontab/cron.hourly",
        "crontab/crontab/anacron",
    }


@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("atop", {"atop.daily"}),
        ("e2fsprogs", {"e2scrub_all_cron", "e2scrub_all"}),
        ("ntpsec", {"rotate-stats"}),
    ],
)
def test_a_look_for_systemd_names_no_schedule(package: str, words: set[str]) -> None:
    """What the command is about does."""
    names = {entry.name.rpartition("/")[2] for entry in read(package).entries}
    assert {name.rpartition("-")[0] for name in names} == words


@pytest.mark.parametrize("line", ["0 0 L * * x", "0 0 l,15 * * x", "@daily 15 minutes", "0 15 1 jan x y"])
def test_what_could_be_meant_for_cron_is_not_taken_for_anacrons(line: str) -> None:
    """Even where it looks like it."""
    found = read_crontab(f"{line}\n", format="user")
    assert all("anacrontab" not in refusal.reason for refusal in found.refusals)


def test_an_anacrontab_is_no_crontab() -> None:
    """Its lines are refused one by one, also the one that begins as a crontab's could."""
    found = read("anacrontab")
    assert all("a line of an anacrontab" in refusal.reason for refusal in found.refusals)
    assert (found.entries, [refusal.line for refusal in found.refusals]) == ((), [6, 7, 8])
