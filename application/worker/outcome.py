"""From the way a handler ended to the one report of its attempt."""

import asyncio
import concurrent.futures
from typing import Any

from ...domain import commands as c
from ...domain.durations import duration
from ...domain.errors import InvalidInput, LeaseLost
from ...domain.limits import RESULT_BYTES
from ...domain.values import encode
from ..handlers import Discard, Failed, Retry, Snooze, Stopped
from .attempt import Attempt, BadPayload, Cause, NotStarted
from .errors import describe, job_error

BAD_RESULT = "bad_result"
BAD_PAYLOAD = "bad_payload"
DISCARDED = "discarded"
RETRY = "retry"
STOPS = (asyncio.CancelledError, concurrent.futures.CancelledError)


def conclude(attempt: Attempt, result: Any, error: BaseException | None) -> c.Report | None:
    """Return the report, or None when there is nothing to say: completed already, or the lease is lost."""
    if attempt.completed:
        return None
    if attempt.cause is Cause.TIMEOUT and not isinstance(error, NotStarted):
        return timed_out(attempt, error)
    if error is None:
        stopped = result is None and attempt.seen
        return _stopped(attempt) if stopped else _succeeded(attempt, result)
    if isinstance(error, NotStarted) or (attempt.cause is not None and isinstance(error, STOPS)):
        return _stopped(attempt)
    if attempt.cause is Cause.LOST and isinstance(error, LeaseLost):
        return None
    try:
        return _raised(attempt, error)
    except BaseException as bad:  # noqa: BLE001  a delay that is none, a reason that is no text
        return _failed(attempt, describe(bad))


def timed_out(attempt: Attempt, ended: BaseException | None = None) -> c.Report:
    """Return the report of an attempt that ran too long, with what its handler has to say about it."""
    details = ended.details if isinstance(ended, Stopped) else None
    error = job_error("timeout", f"the handler ran longer than {attempt.job.timeout}", details)
    return c.Timeout(error=error, draw=attempt.services.draw(), **_common(attempt))


def released(attempt: Attempt) -> c.Report:
    """Return the report that hands the job back."""
    return c.Release(draw=attempt.services.draw(), **_common(attempt))


def bad_result(report: c.Report, error: BaseException, draw: float) -> c.Report:
    """Return the failure that replaces a report which cannot be stored."""
    return c.Fail(
        origin=report.origin,
        token=report.token,
        draw=draw,
        times=report.times,
        error=_unfit(describe(error)),
    )


def _unfit(found: c.JobError) -> c.JobError:
    return job_error(BAD_RESULT, f"{found.type}: {found.message}")


def _common(attempt: Attempt) -> dict[str, Any]:
    return {"origin": attempt.services.origin, "token": attempt.job.token, "times": attempt.times()}


def _stopped(attempt: Attempt) -> c.Report | None:
    if attempt.cause is Cause.LOST:
        return None
    if attempt.cause is Cause.CANCEL:
        return c.ConfirmCancel(**_common(attempt))
    return released(attempt)


def _succeeded(attempt: Attempt, result: Any) -> c.Report:
    text = attempt.result
    if result is not None:
        try:
            text = encode("result", result, RESULT_BYTES)
        except InvalidInput as error:
            return _failed(attempt, job_error(BAD_RESULT, str(error)))
        except BaseException as error:  # noqa: BLE001  values with code of their own may raise anything
            return _failed(attempt, _unfit(describe(error)))
    return c.Succeed(
        origin=attempt.services.origin, token=attempt.job.token, result=text, times=attempt.times()
    )


def _raised(attempt: Attempt, error: BaseException) -> c.Report:
    """Return the report of a handler that raised; raises for a delay that is none."""
    match error:
        case Snooze():
            delay = duration("delay", error.delay)
            return c.Snooze(delay=delay, draw=attempt.services.draw(), **_common(attempt))
        case Discard():
            return c.Discard(error=job_error(DISCARDED, str(error.reason)), **_common(attempt))
        case Retry():
            delay = duration("delay", error.delay)
            return c.Fail(error=job_error(RETRY, str(error.reason)), retry_in=delay, **_common(attempt))
        case Failed():
            return _failed(attempt, job_error(error.kind, error.message, error.details))
        case BadPayload():
            return _failed(attempt, job_error(BAD_PAYLOAD, str(error)))
        case _:
            return _failed(attempt, describe(error))


def _failed(attempt: Attempt, error: c.JobError) -> c.Report:
    return c.Fail(error=error, draw=attempt.services.draw(), **_common(attempt))
