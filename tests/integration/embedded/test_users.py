"""Whom the server runs as, and how it gets at what it needs without anything being opened up."""

import json
import os
import pwd
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from fencepost.adapters.embedded import EmbeddedPostgres
from fencepost.adapters.embedded.account import Account
from fencepost.adapters.embedded.binaries import find_binaries
from fencepost.adapters.embedded.errors import Unreachable
from support.places import passable_folder
from support.reexecution import ReachablePython, reachable_python

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can hand the server to another user")

SESSION = """
import json, os, sys
from pathlib import Path
from fencepost.adapters.embedded import EmbeddedPostgres
datadir = Path(sys.argv[1])
server = EmbeddedPostgres(datadir)
first = server.start()
server.stop()
with server as again:
    owner = Path(f"/proc/{again.pid}").stat().st_uid
print(json.dumps([os.geteuid(), owner, again.adopted, (datadir / "PG_VERSION").stat().st_uid]))
"""


def _uid(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


@pytest.fixture(scope="module")
def nobody() -> Iterator[ReachablePython]:
    """An ordinary user with a Python that user can run."""
    entry = pwd.getpwnam("nobody")
    with passable_folder() as place:
        yield reachable_python(Account(entry.pw_uid, entry.pw_gid), place)


@pytest.fixture
def home(folder: Path, nobody: ReachablePython) -> Path:
    """The ordinary user's own folder."""
    path = folder / "home"
    path.mkdir()
    nobody.account.give(path)
    return path


@pytest.fixture
def closed(folder: Path) -> Path:
    """A folder only we can enter."""
    path = folder / "closed"
    path.mkdir(mode=0o700)
    return path


@as_root
def test_as_root_only_the_server_drops_its_privileges(datadir: Path) -> None:
    """The server runs as an unprivileged user that was there before; we stay root."""
    users = Path("/etc/passwd").read_bytes()
    with EmbeddedPostgres(datadir) as running:
        assert pwd.getpwuid(_uid(running.pid)).pw_name in {"postgres", "nobody"}
    assert os.geteuid() == 0
    assert Path("/etc/passwd").read_bytes() == users


@as_root
def test_as_root_in_a_closed_folder_data_go_to_a_shelter(closed: Path) -> None:
    """The closed folder stays closed, the data are the server's user's alone, and the next start finds them."""
    server = EmbeddedPostgres(closed / "data", shelter=closed.parent / "shelter")
    with server as running, psycopg.connect(running.dsn) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
        data = Path(str(connection.execute("SHOW data_directory").fetchall()[0][0]))
    assert data.is_relative_to(closed.parent / "shelter")
    assert (stat.S_IMODE(data.stat().st_mode), data.stat().st_uid) == (0o700, pwd.getpwnam("postgres").pw_uid)
    assert (stat.S_IMODE(closed.stat().st_mode), closed.stat().st_uid) == (0o700, 0)
    assert not (closed / "data").exists()
    with server as running, psycopg.connect(running.dsn) as connection:
        assert connection.execute("SELECT n FROM kept").fetchall() == [(42,)]
    server.remove()
    assert list((closed.parent / "shelter" / "data").iterdir()) == []


@as_root
def test_as_root_programs_in_a_closed_folder_are_copied_with_their_libraries(closed: Path) -> None:
    """A checkout below root's home works; the copy is made once, and nobody but root can change it."""
    original = find_binaries().bindir.parent
    package = closed / "site" / original.parent.name
    shutil.copytree(original, package / original.name, ignore=shutil.ignore_patterns("include"))
    shutil.copytree(
        original.parent.with_name(f"{package.name}.libs"), package.with_name(f"{package.name}.libs")
    )
    shelter = closed.parent / "shelter"
    for name in ("one", "two"):
        server = EmbeddedPostgres(closed / name, bindir=package / original.name / "bin", shelter=shelter)
        with server as running:
            program = Path(f"/proc/{running.pid}/exe").readlink()
            assert _uid(running.pid) != 0
        assert program.is_relative_to(shelter)
        assert (program.stat().st_uid, stat.S_IMODE(program.stat().st_mode)) == (0, 0o755)
    assert len(list(shelter.glob("postgresql-*"))) == 1


@as_root
def test_data_that_became_unreachable_are_not_silently_replaced(folder: Path) -> None:
    """A folder closed later is an error, not a new and empty database."""
    passage = folder / "passage"
    passage.mkdir()
    passage.chmod(0o711)
    with EmbeddedPostgres(passage / "data"):
        pass
    passage.chmod(0o700)
    with pytest.raises(Unreachable, match="passage"):
        EmbeddedPostgres(passage / "data", shelter=folder / "shelter").start()


@as_root
def test_a_shelter_others_can_write_to_is_refused(closed: Path) -> None:
    """Nobody can slip programs or data under root's hands."""
    shelter = closed.parent / "shelter"
    shelter.mkdir()
    shelter.chmod(0o777)
    with pytest.raises(Unreachable, match="only we can write"):
        EmbeddedPostgres(closed / "data", shelter=shelter).start()


@as_root
def test_an_ordinary_user_runs_a_server_and_root_carries_on_as_that_user(
    home: Path, nobody: ReachablePython
) -> None:
    """Start, stop and start again need no privilege; the data keep their owner, whoever starts the server next."""
    done = nobody.run(SESSION, str(home / "data"))
    assert done.returncode == 0, done.stderr
    uid = nobody.account.uid
    assert json.loads(done.stdout) == [uid, uid, False, uid]
    with EmbeddedPostgres(home / "data") as running:
        assert _uid(running.pid) == uid


@as_root
def test_another_user_cannot_use_the_server_of_root(folder: Path, nobody: ReachablePython) -> None:
    """The password is root's to read, and the attempt says that it was not permitted."""
    with EmbeddedPostgres(folder / "data"):
        done = nobody.run(SESSION, str(folder / "data"))
    assert (done.returncode, done.stderr.splitlines()[-1].split(":")[0]) == (1, "PermissionError")
