"""`fencepost jobs submit`."""

from typing import Annotated

from cyclopts import Parameter

from ....application.submitting import SubmitRequest, submission
from ....domain.durations import duration
from ....domain.errors import InvalidInput
from ....domain.values import decode
from ..flags import PLAIN, Flags
from ..inputs import moment
from ..output import emit_one
from ..session import origin, session
from ..template import UNTOLD, Template

PRINCIPAL = "cli"


async def submit(  # noqa: PLR0913 - an argument for each flag
    type: Annotated[str, Parameter(help="The name a handler is registered under.")],
    /,
    *,
    template: Template = UNTOLD,
    delay: Annotated[str | None, Parameter(help="Due after this long, such as 10m.")] = None,
    run_at: Annotated[str | None, Parameter(help="Due at this moment, such as 2026-01-31T12:00:00Z.")] = None,
    key: Annotated[
        str | None, Parameter(help="Submit key: the same again is answered with the same job.")
    ] = None,
    effect_key: Annotated[str | None, Parameter(help="Handed to the effect downstream.")] = None,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> None:
    """Submit a job and print its id."""
    request = SubmitRequest(
        type=type,
        payload=_object(template.payload_text()),
        delay=None if delay is None else duration("delay", delay),
        run_at=moment("run_at", run_at),
        key=key,
        effect_key=effect_key,
        **template.given(),
    )
    checked = submission(request, origin(reason), PRINCIPAL)
    async with session(flags) as container:
        [answer] = await container.submitter().submit([checked])
    emit_one(flags.output, {"job_id": answer.job_id, "created": answer.created})


def _object(text: str | None) -> dict[str, object]:
    value = {} if text is None else decode("payload", text)
    if not isinstance(value, dict):
        raise InvalidInput("payload", "must be a JSON object")
    return value
