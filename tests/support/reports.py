"""Every report that can be made with one token."""

from datetime import timedelta
from typing import Any

from fencepost.domain import commands as c
from fencepost.domain.token import Token

ERROR = c.JobError("ValueError", "no such row", "Traceback …")


def every_report(
    token: Token,
    origin: c.Origin,
    *,
    delay: timedelta,
    draw: float = 0.5,
    times: c.HandlerTimes | None = None,
) -> tuple[c.Report, ...]:
    """One report of each kind, and the variants of those that have some."""
    held: dict[str, Any] = {"origin": origin, "token": token, "draw": draw, "times": times}
    return (
        c.Succeed(**held),
        c.Succeed(**held, result='{"a":[1,"é"]}'),
        c.Fail(**held, error=ERROR),
        c.Fail(**held, error=ERROR, retry_in=delay),
        c.Timeout(**held),
        c.Discard(**held, error=c.JobError("Unprocessable")),
        c.Snooze(**held, delay=delay),
        c.Release(**held),
        c.ConfirmCancel(**held),
    )


def one_of_each(token: Token, origin: c.Origin, *, delay: timedelta) -> tuple[c.Report, ...]:
    """One report of each kind."""
    return tuple({type(report): report for report in every_report(token, origin, delay=delay)}.values())
