"""`fencepost jobs submit`."""

from typing import Annotated, Any

from cyclopts import Parameter

from ....application.submitting import SubmitRequest, submission
from ....domain.durations import duration
from ....domain.errors import InvalidInput
from ....domain.limits import LEASE_DEFAULT, MAX_ATTEMPTS_DEFAULT, PRIORITY_DEFAULT, TIMEOUT_DEFAULT
from ....domain.values import decode
from ..flags import PLAIN, Flags
from ..inputs import json_text, moment
from ..output import emit_one
from ..session import origin, session

PRINCIPAL = "cli"


async def submit(  # noqa: PLR0913 - an argument for each flag
    type: Annotated[str, Parameter(help="The name a handler is registered under.")],
    /,
    *,
    payload: Annotated[
        str, Parameter(help="A JSON object; @FILE reads a file, - reads stdin.", allow_leading_hyphen=True)
    ] = "{}",
    queue: str = "default",
    priority: Annotated[int, Parameter(help="0 to 9, higher first.")] = PRIORITY_DEFAULT,
    delay: Annotated[str | None, Parameter(help="Due after this long, such as 10m.")] = None,
    run_at: Annotated[str | None, Parameter(help="Due at this moment, such as 2026-01-31T12:00:00Z.")] = None,
    key: Annotated[
        str | None, Parameter(help="Submit key: the same again is answered with the same job.")
    ] = None,
    max_attempts: int = MAX_ATTEMPTS_DEFAULT,
    timeout: Annotated[str | None, Parameter(help="Longest run, such as 30s; none for no limit.")] = None,
    lease: Annotated[str | None, Parameter(help="How long a silent worker keeps the job [30s].")] = None,
    effect_key: Annotated[str | None, Parameter(help="Handed to the effect downstream.")] = None,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> None:
    """Submit a job and print its id."""
    request = SubmitRequest(
        type=type,
        payload=_object(payload),
        queue=queue,
        priority=priority,
        delay=None if delay is None else duration("delay", delay),
        run_at=moment("run_at", run_at),
        key=key,
        max_attempts=max_attempts,
        lease=LEASE_DEFAULT if lease is None else duration("lease", lease),
        effect_key=effect_key,
        timeout=_timeout(timeout),
    )
    checked = submission(request, origin(reason), PRINCIPAL)
    async with session(flags) as container:
        [answer] = await container.submitter().submit([checked])
    emit_one(flags.output, {"job_id": answer.job_id, "created": answer.created})


def _object(given: str) -> dict[str, Any]:
    value = decode("payload", json_text("payload", given))
    if not isinstance(value, dict):
        raise InvalidInput("payload", "must be a JSON object")
    return value


def _timeout(text: str | None) -> Any:
    if text is None:
        return TIMEOUT_DEFAULT
    return None if text == "none" else duration("timeout", text)
