"""An entry of a crontab as a schedule: what the crontab says, and else what cron would do."""

from attrs import evolve, frozen

from ...domain.errors import InvalidInput
from ...domain.job import Specification
from ...domain.limits import PAYLOAD_BYTES
from ...domain.recurrence import recurrence
from ...domain.schedule import Definition, Missed, Overlap, Policies, Timing
from ...domain.values import decode, encode
from ..shell import SHELL, SHELL_RUN, ShellCommand, shell_command
from .found import Entry, Refused

NOT_PASSED = frozenset({"SHELL"})
"""Settings that the payload has a member of its own for."""
CRONS = Policies(missed=Missed.SKIP, overlap=Overlap.ALLOW)
"""Cron does not catch up, and starts a command whether the one before it has ended or not."""
QUEUE = "default"


@frozen(kw_only=True)
class Terms:
    """How a crontab is taken over.

    ``source`` names it. ``user`` is who takes it over. ``as_worker`` lets commands of any user run as the worker's,
    whoever that is. ``take_over`` lets entries have the schedules of another crontab. ``queue`` None means the default,
    and where a schedule is already, its own.
    """

    source: str
    user: str
    as_worker: bool = False
    take_over: bool = False
    queue: str | None = None


def wanted(entry: Entry, terms: Terms) -> Definition:
    """Return the schedule of an entry; raises Refused."""
    if entry.user not in (None, terms.user) and not terms.as_worker:
        raise Refused(
            f"the command runs as {entry.user} under cron, and {terms.user} cannot vouch for that",
            f"import it as {entry.user}, for workers of that user; or say --as-worker, to run it as they are",
        )
    return Definition(
        timing=Timing(cron=recurrence(entry.expression, entry.zone).expression, tz=entry.zone),
        template=Specification(
            type=SHELL_RUN,
            payload=_payload(entry, terms),
            queue=terms.queue or QUEUE,
            max_attempts=1,
            timeout=None,
        ),
        policies=CRONS,
    )


def taken_over(there: Definition, entry: Definition, terms: Terms) -> Definition:
    """Return a schedule that is there with all that the crontab says; what only people say stays theirs."""
    timing = evolve(there.timing, cron=entry.timing.cron, tz=entry.timing.tz)
    queue = terms.queue or there.template.queue
    template = evolve(there.template, type=SHELL_RUN, payload=entry.template.payload, queue=queue)
    return evolve(there, timing=timing, template=template)


def source_of(definition: Definition) -> str | None:
    """Return the crontab that a schedule was taken over from, None for any other schedule."""
    if definition.template.type != SHELL_RUN or definition.template.payload is None:
        return None
    payload = decode("payload", definition.template.payload)
    found = payload.get("source") if isinstance(payload, dict) else None
    return found if isinstance(found, str) else None


def _payload(entry: Entry, terms: Terms) -> str:
    settings = entry.environment
    payload = ShellCommand(
        command=entry.command,
        stdin=entry.stdin,
        environment={name: value for name, value in settings.items() if name not in NOT_PASSED},
        shell=settings.get("SHELL") or SHELL,
        user=None if terms.as_worker else entry.user,
        source=terms.source,
    ).payload()
    try:
        shell_command(payload)
        return encode("payload", payload, PAYLOAD_BYTES)
    except InvalidInput as error:
        raise Refused(str(error)) from error
