"""Never run: mistakes that a strict type checker finds; one that it no longer found would be an unused ignore."""

from datetime import timedelta

from fencepost import Context, Fencepost, Unique

app = Fencepost()


@app.job(queue="mail")
async def send(ctx: Context, user_id: int, note: str = "") -> None:
    """A coroutine function."""


@app.job
def report(ctx: Context, *, pages: int) -> None:
    """A plain function."""


async def arguments() -> None:
    """Arguments that do not fit the handler."""
    await send.submit(user_id="x")  # type: ignore[arg-type]  # of the wrong type
    await send.submit("x")  # type: ignore[arg-type]  # the same by position
    await send.submit()  # type: ignore[call-arg]  # missing
    await send.submit(1, other=2)  # type: ignore[call-arg]  # unknown
    await send.submit(1, "x", 2)  # type: ignore[call-arg]  # too many
    await send.options(priority=1).submit(user_id=None)  # type: ignore[arg-type]  # also after options
    await send.submit(user_id=1, priority=9)  # type: ignore[call-arg]  # an option is no argument
    send.submit_sync(user_id="x")  # type: ignore[arg-type]  # from synchronous code
    send.request(user_id="x")  # type: ignore[arg-type]  # for a batch
    report.submit_sync(3)  # type: ignore[call-arg]  # by keyword only
    report.submit_sync(pages="3")  # type: ignore[arg-type]  # of the wrong type


async def options() -> None:
    """Options that do not exist or have the wrong type."""
    send.options(prioirty=1)  # type: ignore[call-arg]  # misspelt
    send.options(priority="high")  # type: ignore[arg-type]  # of the wrong type
    send.options(user_id=1)  # type: ignore[call-arg]  # an argument is no option
    send.options(run_at="tomorrow")  # type: ignore[arg-type]  # text is no moment
    send.options(lease=None)  # type: ignore[arg-type]  # only a timeout can be none
    send.options(unique="user_id")  # type: ignore[arg-type]  # no unique options
    send.options(retry=Unique())  # type: ignore[arg-type]  # no policy
    Unique(fields=[1])  # type: ignore[list-item]  # no names
    app.job(key="k")  # type: ignore[call-overload]  # only one submit has a key
    app.job(delay=timedelta(1))  # type: ignore[call-overload]  # or a delay
    app.job(executor="fibre")  # type: ignore[call-overload]  # there is none


def schedules() -> None:
    """Schedules that could not be."""
    app.schedule("a", "@daily", send.request(user_id="x"))  # type: ignore[arg-type]  # of the wrong type
    app.schedule("b", "@daily", send.request())  # type: ignore[call-arg]  # missing
    app.schedule("c", "@daily", send.function)  # type: ignore[arg-type]  # no job type
    app.schedule("d", "@daily", send, overlap="never")  # type: ignore[arg-type]  # there is none
    app.schedule("e", "@daily", send, misssed="all")  # type: ignore[call-arg]  # misspelt
    app.schedule("f", "@daily", send, priority=8)  # type: ignore[call-arg]  # an option of the job type


@app.job  # type: ignore[arg-type]  # no context
def lonely() -> None:
    """Takes nothing."""


@app.job()  # type: ignore[arg-type]  # no context
async def confused(user_id: int) -> None:
    """Takes its argument first."""
