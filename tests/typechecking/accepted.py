"""Never run: what users write and a strict type checker accepts."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import assert_type

import psycopg
from sqlalchemy.ext.asyncio import AsyncSession

from fencepost import (
    Constant,
    Context,
    Delays,
    Exponential,
    Fencepost,
    Job,
    JobType,
    State,
    SubmitRequest,
    Submitted,
    Unique,
)

app = Fencepost()


@app.job(queue="mail", max_attempts=8, timeout="30s")
async def send_welcome(ctx: Context, user_id: int) -> None:
    """A coroutine function, options."""


@app.job
async def bare(ctx: Context, user_id: int, note: str = "") -> dict[str, int]:
    """A coroutine function, no parentheses."""
    return {"user_id": user_id}


@app.job()
def report(ctx: Context, *, day: datetime) -> None:
    """A plain function, empty parentheses, an argument by keyword only."""


@app.job("mail:nightly", executor="thread", retry=["1m", 60, timedelta(hours=1)], unique=True)
def nightly(ctx: Context) -> None:
    """A plain function, a name, no arguments."""


async def submits(session: AsyncSession, connection: psycopg.Connection) -> None:
    """Every way to submit."""
    assert_type(await send_welcome.submit(user_id=42), Submitted)
    assert_type(send_welcome.submit_sync(42), Submitted)
    assert_type(report.request(day=datetime.now(UTC)), SubmitRequest)
    await bare.submit(1)
    await bare.submit(1, note="x")
    nightly.submit_sync()
    requests = [send_welcome.request(user_id=number) for number in range(10)]
    assert_type(await app.submit_many(requests, tx=session), Sequence[Submitted])
    many = send_welcome.options(priority=8).requests({"user_id": number} for number in range(10))
    assert_type(app.submit_many_sync(many, reason="import"), Sequence[Submitted])
    await send_welcome.options(delay="10m", priority=8, key="welcome-42").submit(user_id=42)
    await send_welcome.options(tx=session).submit(user_id=42)
    send_welcome.options(tx=connection, timeout=None, lease=30, effect_key="e").submit_sync(user_id=42)
    send_welcome.options(run_at=datetime.now(UTC), retry=Constant(timedelta(seconds=1)), max_attempts=1)
    send_welcome.options(retry=Exponential(), unique=Unique(fields=["user_id"], period="1h"))
    send_welcome.options(retry=Delays([timedelta(seconds=1)]), actor="user:ann", request_id="r", reason="why")


def schedules() -> None:
    """Every way to declare one."""
    app.schedule("nightly-report", "30 2 * * *", nightly, tz="Europe/Oslo", missed="latest", overlap="skip")
    app.schedule("welcome", "@daily", send_welcome, payload={"user_id": 42}, jitter="5m", dst="wall")
    app.schedule("urgent", "every 90m", send_welcome.options(priority=8).request(user_id=42), jitter=30)
    app.schedule(
        "bounded", "@hourly", nightly, starts_at=datetime.now(UTC), ends_at=None, catchup_window=None
    )


async def calls(ctx: Context) -> None:
    """A job type stays a function, and can be handed on."""
    await send_welcome(ctx, user_id=1)
    chosen: JobType[...] = send_welcome if ctx.attempt > 1 else bare
    await chosen.submit(1)


async def looks(job_id: int) -> State | None:
    """What an app answers."""
    async with app as opened:
        assert_type(opened, Fencepost)
        job = assert_type(await app.get(job_id), Job | None)
    return job.state if job else None
