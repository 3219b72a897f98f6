"""The flags that say what a job is like: one that is submitted, and each of those that a schedule makes."""

from typing import Annotated, Any

from attrs import frozen
from cyclopts import Group, Parameter

from ...domain.durations import duration
from ...domain.errors import InvalidInput
from ...domain.limits import MAX_ATTEMPTS_DEFAULT, PRIORITY_DEFAULT
from ...domain.retry import Constant, Delays, Exponential, RetryPolicy
from .inputs import clearable, json_text

JOB = Group("What the job is like", sort_key=5)


@Parameter(name="*", group=JOB)
@frozen(kw_only=True)
class Template:
    """What is not given stays as it is, or is the default in brackets."""

    payload: Annotated[
        str | None,
        Parameter(help="A JSON object; @FILE reads a file, - reads stdin [{}].", allow_leading_hyphen=True),
    ] = None
    queue: Annotated[str | None, Parameter(help="The queue's name [default].")] = None
    priority: Annotated[int | None, Parameter(help=f"0 to 9, higher first [{PRIORITY_DEFAULT}].")] = None
    max_attempts: Annotated[
        int | None, Parameter(help=f"The failure that it dies of [{MAX_ATTEMPTS_DEFAULT}].")
    ] = None
    timeout: Annotated[str | None, Parameter(help="Longest run, such as 30s; none for no limit [1h].")] = None
    lease: Annotated[str | None, Parameter(help="How long a silent worker keeps the job [30s].")] = None
    retry: Annotated[
        str | None,
        Parameter(
            help="Wait after a failure: 30s, or 1s,10s,1m one by one, or 10s..15m drawn below a bound that doubles "
            "from one to the other [10s..15m]."
        ),
    ] = None

    def payload_text(self) -> str | None:
        """Return the payload's JSON text, unchecked; raises InvalidInput for what can't be read."""
        return None if self.payload is None else json_text("payload", self.payload)

    def given(self) -> dict[str, Any]:
        """Return what was given but for the payload, by the names of a specification's fields; raises InvalidInput."""
        plain = {"queue": self.queue, "priority": self.priority, "max_attempts": self.max_attempts}
        fields: dict[str, Any] = {name: value for name, value in plain.items() if value is not None}
        fields |= clearable("timeout", self.timeout, duration)
        if self.lease is not None:
            fields["lease"] = duration("lease", self.lease)
        if self.retry is not None:
            fields["retry"] = retry_policy("retry", self.retry)
        return fields


UNTOLD = Template()
"""No flag given."""


def retry_policy(field: str, text: str) -> RetryPolicy:
    """Read ``30s``, ``1s,10s,1m`` or ``10s..15m``; raises InvalidInput."""
    low, dots, high = text.partition("..")
    if dots:
        base, cap = duration(field, low), duration(field, high)
        if base > cap:
            raise InvalidInput(field, f"must go from the shorter wait to the longer one: {high}..{low}")
        return Exponential(base, cap)
    delays = [duration(field, delay) for delay in text.split(",")]
    return Constant(delays[0]) if len(delays) == 1 else Delays(delays)
