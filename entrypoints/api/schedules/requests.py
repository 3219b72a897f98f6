"""Schedules in requests: from a JSON object to a definition, from a path to a name."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from ....domain.durations import duration
from ....domain.errors import InvalidInput
from ....domain.job import Specification
from ....domain.recurrence import Dst
from ....domain.schedule import Definition, Missed, Overlap, Policies, Timing
from ....domain.scheduling import check_definition
from ....domain.submission import check_specification
from ....domain.values import check_integer, check_name
from ..fields import Reader, choice, nullable, read, switch, text
from ..moments import moment
from ..operations import REASON, payload
from ..query import checked
from ..requests import SINGLE

TIMES, TIMES_MOST = 5, 1_000
"""Fire times that a preview shows."""
JOB: Mapping[str, Reader] = {
    **{name: SINGLE[name] for name in ("type", "queue", "priority", "max_attempts")},
    **{name: SINGLE[name] for name in ("timeout", "lease", "retry")},
    "payload": payload,
}
"""What is fixed of each job; when it is due, and its effect key, come from the fire time."""


def template(field: str, value: object) -> Specification:
    """Read what each job is like; raises InvalidInput with its place below ``field``."""
    try:
        specification = Specification(**read("", value, JOB, ("type",)))
        check_specification(specification)
    except InvalidInput as error:
        raise InvalidInput(field, error.rule, error.path) from error
    return specification


TIMING: Mapping[str, Reader] = {
    "cron": text,
    "tz": text,
    "dst": choice(Dst),
    "starts_at": moment,
    "ends_at": nullable(moment),
    "jitter": duration,
}
POLICIES: Mapping[str, Reader] = {
    "missed": choice(Missed),
    "catchup_window": nullable(duration),
    "overlap": choice(Overlap),
    "pause_on_failure": switch,
}
REPLACE: Mapping[str, Reader] = {**TIMING, **POLICIES, "job": template, **REASON}
CREATE: Mapping[str, Reader] = {"name": check_name, **REPLACE}
TRIGGER: Mapping[str, Reader] = {**REASON, "overlap": choice(Overlap)}
PREVIEW: Mapping[str, Reader] = {
    **{name: TIMING[name] for name in ("cron", "tz", "dst")},
    "from": moment,
    "number": lambda field, value: check_integer(field, value, 1, TIMES_MOST),
}


def definition(fields: Mapping[str, Any]) -> Definition:
    """Return the definition that fields make, as it is stored; raises InvalidInput."""
    return check_definition(
        Definition(
            timing=Timing(**{name: fields[name] for name in TIMING if name in fields}),
            policies=Policies(**{name: fields[name] for name in POLICIES if name in fields}),
            template=fields["job"],
        )
    )


def path_name(request: Request, ending: str = "") -> str:
    """Return the schedule's name: what the path has in its place, and ``ending``. Raises Problem."""
    return checked("name", lambda: check_name("name", request.path_params["name"] + ending))


def ends_the_name(request: Request, word: str) -> bool:
    """Whether the path's last word belongs to the name: the slash before it is written ``%2F`` then."""
    raw: bytes = request.scope.get("raw_path") or b""
    return raw.lower().endswith(b"%2f" + word.encode())
