"""Which database an app and its worker use."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost import Fencepost, State
from support.commands import Commands
from support.programs import ended

PROGRAM = """
from fencepost import Context, Fencepost

app = Fencepost({address})

@app.job
async def first(ctx: Context) -> int:
    return (await second.submit(ctx.job_id)).job_id

@app.job
def second(ctx: Context, parent: int) -> int:
    return third.submit_sync().job_id

@app.job
async def third(ctx: Context) -> None: ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Commands]:
    """The command line where the environment names no database."""
    named = ("FENCEPOST_", "PG", "DATABASE_URL")
    commands = Commands(
        tmp_path, {name: value for name, value in os.environ.items() if not name.startswith(named)}
    )
    yield commands
    commands.kill()


@pytest.mark.parametrize("named", ["by flag", "in the code", "by flag, against the code"])
async def test_handlers_submit_to_the_database_they_run_on(
    app: Fencepost, emptied: str, folder: Commands, named: str
) -> None:
    """Wherever it is named: a job submits a second and that a third, from a coroutine and from a thread."""
    address = {"by flag": "", "in the code": emptied}.get(named, "postgresql://127.0.0.1:1/elsewhere")
    (folder.folder / "program.py").write_text(PROGRAM.format(address=repr(address) if address else ""))
    flags = ["--database-url", emptied] if "flag" in named else []

    @app.job
    async def first(ctx: object) -> None: ...

    job_id = (await first.submit()).job_id
    worker = folder.start("worker", "program:app", *flags)
    for _ in range(2):
        job = await ended(app, job_id)
        assert job.state is State.SUCCEEDED, worker.log.read_text()
        job_id = int(job.result or "0")
    assert (await ended(app, job_id)).type == "third"
    assert await asyncio.to_thread(worker.stop) == 0


async def test_a_worker_without_any_address_says_so(folder: Commands) -> None:
    """And ends with the code for usage."""
    (folder.folder / "program.py").write_text(PROGRAM.format(address=""))
    done = await asyncio.to_thread(folder.run, "worker", "program:app")
    assert done.returncode == 2
    assert "names no database" in done.stderr
