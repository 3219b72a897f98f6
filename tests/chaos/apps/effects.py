"""An app whose handlers write down what they do, in a file that no other part of the system can touch."""

import asyncio
import ctypes
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import text

from fencepost import Context, Discard, Fencepost, Snooze
from fencepost.application.worker.attempt import Cause

app = Fencepost()
HERE = Path(os.environ["CHAOS_FOLDER"])
LEDGER = os.open(HERE / "ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
GLANCE = 0.005
WRITE = text("INSERT INTO public.effects (job_id, attempt) VALUES (:job_id, :attempt)")


def note(ctx: Context, what: str) -> None:
    """Write one line; lines of all processes are whole, and survive a kill."""
    entry = {
        "job_id": ctx.job_id,
        "attempt": ctx.attempt,
        "pid": os.getpid(),
        "what": what,
        "at": time.time(),
    }
    os.write(LEDGER, json.dumps(entry).encode() + b"\n")


@contextmanager
def effect(ctx: Context) -> Iterator[None]:
    """Note that a handler began, and whether it ended or was stopped."""
    note(ctx, "began")
    try:
        yield
    except BaseException:
        note(ctx, "stopped")
        raise
    note(ctx, "ended")


def opened(gate: str) -> bool:
    """Whether the test has opened a gate."""
    return (HERE / gate).exists()


def wait_for(gate: str) -> None:
    """Wait until the test opens a gate, whatever else happens."""
    while not opened(gate):
        time.sleep(GLANCE)


@app.job()
async def nap(ctx: Context, seconds: float = 0, later: float = 0) -> int:
    """Sleep: ``seconds`` in the first attempt, ``later`` in all others."""
    with effect(ctx):
        await asyncio.sleep(seconds if ctx.attempt == 1 else later)
    return ctx.attempt


@app.job()
def doze(ctx: Context, seconds: float = 0, later: float = 0) -> int:
    """Do the same in a thread, deaf to everything."""
    with effect(ctx):
        time.sleep(seconds if ctx.attempt == 1 else later)
    return ctx.attempt


@app.job()
async def block(ctx: Context, seconds: float) -> int:
    """Block the event loop."""
    with effect(ctx):
        time.sleep(seconds)  # noqa: ASYNC251 - the fault under test
    return ctx.attempt


@app.job()
def grip(ctx: Context, seconds: int) -> int:
    """Hold the interpreter's lock in the first attempt: nothing else in this process runs meanwhile."""
    with effect(ctx):
        if ctx.attempt == 1:
            ctypes.PyDLL(None).sleep(seconds)
    return ctx.attempt


@app.job()
def kill(ctx: Context) -> None:
    """Kill the worker's own process."""
    with effect(ctx):
        os.kill(os.getpid(), signal.SIGKILL)


@app.job()
def wake(ctx: Context, ending: str) -> str:
    """End as asked in the first attempt, when it is time; succeed at once in all others."""
    if ctx.attempt > 1:
        return "second"
    with effect(ctx):
        return end(ctx, ending)


@app.job()
async def wake_cancelled(ctx: Context) -> str:
    """Wait for ever in the first attempt; succeed at once in all others."""
    if ctx.attempt > 1:
        return "second"
    with effect(ctx):
        await asyncio.Event().wait()
    return "first"


@app.job()
def hear(ctx: Context) -> str | None:
    """Hold the first attempt until the worker has heard that its lease is lost."""
    if ctx.attempt > 1:
        return "second"
    with effect(ctx):
        while ctx._attempt.cause is not Cause.LOST:
            time.sleep(GLANCE)
    return None if ctx.cancelled else "first"


@app.job()
async def write(ctx: Context, seconds: float = 0, gate: str | None = None) -> None:
    """Write a row and complete the job in one transaction, held open for a while or until a gate is open."""
    with effect(ctx):
        async with ctx.transaction() as connection:
            await connection.execute(WRITE, {"job_id": ctx.job_id, "attempt": ctx.attempt})
            note(ctx, "wrote")
            await asyncio.sleep(seconds)
            while ctx.attempt == 1 and gate and not opened(gate):  # noqa: ASYNC110 - another process opens it
                await asyncio.sleep(GLANCE)


@app.job()
def write_in_thread(ctx: Context, gate: str | None = None) -> None:
    """Do the same in a thread."""
    with effect(ctx), ctx.transaction_sync() as connection:
        connection.execute(WRITE, {"job_id": ctx.job_id, "attempt": ctx.attempt})
        note(ctx, "wrote")
        if ctx.attempt == 1 and gate:
            wait_for(gate)


def end(ctx: Context, ending: str) -> str:
    """End in one of the ways a handler can: when it is told to stop, or once the gate is open."""
    if ending == "release":
        while not ctx.cancelled:
            time.sleep(GLANCE)
        ctx.raise_if_cancelled()
    wait_for("gate")
    match ending:
        case "fail":
            raise ValueError("too late")
        case "snooze":
            raise Snooze(60)
        case "discard":
            raise Discard("no use")
    return "first"
