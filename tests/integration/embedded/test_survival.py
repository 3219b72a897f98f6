"""Whatever is killed: nothing is lost, nothing is left behind, and the next start works at once."""

import os
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from fencepost.adapters.embedded import EmbeddedPostgres
from fencepost.adapters.embedded.locks import is_locked
from support.owners import own
from support.polling import eventually

BUSY = "SELECT count(*) FROM generate_series(1, 1e12)"


def _gone(datadir: Path) -> bool:
    return not is_locked(datadir.with_name(datadir.name + ".running"))


def _parent(pid: int) -> int:
    status = Path(f"/proc/{pid}/stat").read_text()
    return int(status.rsplit(")", 1)[1].split()[1])


def _rows(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM acknowledged").fetchone()
    assert row is not None
    return int(row[0])


def test_after_a_killed_postmaster_the_next_start_has_every_acknowledged_row(datadir: Path) -> None:
    """Three times in a row the server is killed right after a commit and started at once."""
    server = EmbeddedPostgres(datadir)
    running = server.start()
    with psycopg.connect(running.dsn) as connection:
        connection.execute("CREATE TABLE acknowledged (n int)")
    for committed in range(1, 4):
        with psycopg.connect(running.dsn) as connection:
            connection.execute("INSERT INTO acknowledged VALUES (1)")
        os.kill(running.pid, signal.SIGKILL)
        running = server.start()
        assert not running.adopted
        assert _rows(running.dsn) == committed


def test_a_backend_too_busy_to_notice_does_not_hold_up_the_next_start(datadir: Path) -> None:
    """A query that outlives its killed postmaster is ended; two servers never share a data folder."""
    server = EmbeddedPostgres(datadir)
    running = server.start()
    connection = psycopg.connect(running.dsn)
    query = threading.Thread(target=lambda: _endless(connection))
    query.start()
    os.kill(running.pid, signal.SIGKILL)
    assert server.start(timeout=20).pid != running.pid
    query.join()
    connection.close()


def _endless(connection: psycopg.Connection) -> None:
    with suppress(psycopg.OperationalError):
        connection.execute(BUSY)


def test_a_killed_keeper_takes_its_server_along_and_the_next_start_works(datadir: Path) -> None:
    """Nothing runs on untied when the process between owner and server dies."""
    server = EmbeddedPostgres(datadir)
    running = server.start()
    os.kill(_parent(running.pid), signal.SIGKILL)
    eventually(lambda: _gone(datadir))
    assert not server.start().adopted


def test_a_server_ends_with_the_killed_process_that_started_it(datadir: Path) -> None:
    """Killing the owner stops the server, and another process can start it again."""
    owner = own(datadir)
    pid = owner.running()["pid"]
    owner.kill()
    eventually(lambda: _gone(datadir))
    assert EmbeddedPostgres(datadir).start().pid != pid


def test_a_server_outlives_the_thread_that_started_it(datadir: Path) -> None:
    """The tie is to the process, not to a thread that may end."""
    thread = "t = threading.Thread(target=start); t.start(); t.join()"
    owner = own(datadir, start=thread)
    pid = owner.running()["pid"]
    again = EmbeddedPostgres(datadir).start()
    assert (again.adopted, again.pid) == (True, pid)
    owner.kill()
    eventually(lambda: _gone(datadir))


PROGRAM = (
    "import subprocess; child = subprocess.Popen(['sleep', '60'], close_fds=False, stdout=subprocess.DEVNULL)"
)
FORK = """import multiprocessing, time
child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
child.start()"""


@pytest.mark.parametrize("child", [PROGRAM, FORK], ids=["program", "fork"])
def test_other_children_of_the_owner_do_not_keep_the_server_alive(datadir: Path, child: str) -> None:
    """The tie is inherited neither by programs nor by forks."""
    owner = own(datadir, start=f"start()\n{child}")
    owner.running()
    children = Path(f"/proc/{owner.process.pid}/task/{owner.process.pid}/children").read_text().split()
    owner.process.kill()
    owner.process.wait()
    eventually(lambda: _gone(datadir), within=5)
    for pid in children:
        os.kill(int(pid), signal.SIGKILL)
    owner.close()
    assert children


def test_an_untied_server_outlives_its_starter_until_somebody_stops_it(datadir: Path) -> None:
    """The next process adopts it; stop ends it though somebody else started it."""
    owner = own(datadir, tied_to_parent=False)
    pid = owner.running()["pid"]
    owner.kill()
    server = EmbeddedPostgres(datadir)
    adopted = server.start()
    assert (adopted.adopted, adopted.pid) == (True, pid)
    server.stop()
    assert _gone(datadir)


@pytest.mark.parametrize("victim", ["starter", "initdb"])
def test_a_half_made_data_folder_is_made_again(datadir: Path, victim: str) -> None:
    """Killing the starter or initdb in the middle leaves nothing the next start stumbles over."""
    owner = own(datadir)
    made = eventually(lambda: list(datadir.parent.glob("data.making-*/data/base")))[0].parent
    if victim == "starter":
        owner.kill()
    else:
        subprocess.run(["pkill", "-9", "-f", f"initdb --pgdata {made}"], check=True)
        owner.close()
    assert not datadir.exists()
    EmbeddedPostgres(datadir).start()
    assert list(datadir.parent.glob("*making*")) == []


def test_a_note_of_a_killed_server_that_names_a_stranger_is_no_obstacle(datadir: Path) -> None:
    """After a reboot the old process id may belong to anybody; that process is neither waited for nor harmed."""
    server = EmbeddedPostgres(datadir)
    os.kill(server.start().pid, signal.SIGKILL)
    eventually(lambda: _gone(datadir))
    with subprocess.Popen(["sleep", "60"]) as stranger:
        note = (datadir / "postmaster.pid").read_text().split("\n", 1)[1]
        (datadir / "postmaster.pid").write_text(f"{stranger.pid}\n{note}")
        assert not server.start().adopted
        server.stop()
        assert stranger.poll() is None
        stranger.kill()


def test_a_start_that_fails_leaves_nothing_running_and_tells_why(datadir: Path) -> None:
    """The error carries the end of the server's log."""
    from fencepost.adapters.embedded.errors import StartFailed

    with pytest.raises(StartFailed, match="max_connections"):
        EmbeddedPostgres(datadir, settings={"max_connections": "none"}).start()
    eventually(lambda: _gone(datadir))
