"""What cannot work is refused with words that help."""

from pathlib import Path

import pytest

from fencepost.adapters.embedded import EmbeddedPostgres
from fencepost.adapters.embedded.binaries import Binaries, _candidates, _in_wheel, _version
from fencepost.adapters.embedded.errors import (
    ForeignDataFolder,
    IncompatibleDataFolder,
    InitializationFailed,
    NoBinaries,
    NoUnprivilegedUser,
)


@pytest.mark.parametrize("made_by", ["19", "17", "9.6"])
def test_data_of_another_major_version_are_refused(datadir: Path, made_by: str) -> None:
    """Newer or older, the error names both versions and a way out; the data are not touched."""
    with EmbeddedPostgres(datadir):
        pass
    (datadir / "PG_VERSION").write_text(f"{made_by}\n")
    with pytest.raises(IncompatibleDataFolder, match=rf"PostgreSQL {made_by}, .* are 18\..*pg_upgrade"):
        EmbeddedPostgres(datadir).start()
    (datadir / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres(datadir) as running:
        assert running.version.startswith("18.")


def test_a_folder_with_something_else_in_it_is_refused(datadir: Path) -> None:
    """Nobody's files are mixed with a data folder or removed for one."""
    datadir.mkdir()
    (datadir / "thesis.txt").write_text("years of work")
    with pytest.raises(ForeignDataFolder, match="data"):
        EmbeddedPostgres(datadir).start()
    assert [file.name for file in datadir.iterdir()] == ["thesis.txt"]
    assert [file.name for file in datadir.parent.glob("*making*")] == []


def test_an_empty_folder_is_as_good_as_none(datadir: Path) -> None:
    """Somebody made the folder beforehand; that is fine."""
    datadir.mkdir()
    with EmbeddedPostgres(datadir) as running:
        assert not running.adopted


def test_a_folder_without_programs_is_refused_when_it_was_named(datadir: Path) -> None:
    """An explicit folder is never replaced by another one behind the user's back."""
    with pytest.raises(NoBinaries, match=str(datadir.parent)):
        EmbeddedPostgres(datadir, bindir=datadir.parent).start()


def test_initdb_that_fails_is_told_with_its_own_words(datadir: Path) -> None:
    """The error carries what initdb said, and the half-made folder is gone."""
    programs = datadir.parent / "bin"
    programs.mkdir(mode=0o755)
    for name, body in {"postgres": "echo postgres 18.9", "initdb": "echo no space left >&2; exit 1"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    with pytest.raises(InitializationFailed, match="no space left"):
        EmbeddedPostgres(datadir, bindir=programs).start()
    assert [file.name for file in datadir.parent.glob("data.making-*")] == []


def test_the_wheel_comes_first_and_its_newest_server_before_older_ones() -> None:
    """PostgreSQL 18 is preferred to the 16 the same wheel carries."""
    folders = [bindir.parent.name for bindir in _in_wheel()]
    assert folders == ["pginstall18", "pginstall"]
    assert next(iter(_candidates())).parent.name == "pginstall18"


def test_every_complete_installation_of_this_machine_works(folder: Path) -> None:
    """The same controller runs PostgreSQL 15, 16 and 18, whichever are at hand."""
    installations = {
        Binaries(bindir, version).major: bindir for bindir in _candidates() if (version := _version(bindir))
    }
    for major, bindir in installations.items():
        with EmbeddedPostgres(folder / f"data{major}", bindir=bindir) as running:
            assert running.version.startswith(f"{major}.")
    assert {"18", "16"} <= set(installations)


def test_root_without_any_unprivileged_user_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """No user is created for the occasion."""
    from fencepost.adapters.embedded import account

    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(account, "PREFERRED", ("no-such-user",))
    with pytest.raises(NoUnprivilegedUser, match="no-such-user"):
        account.server_account(None)
