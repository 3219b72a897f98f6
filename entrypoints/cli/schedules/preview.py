"""`fencepost schedules next`: fire times of an expression, without a database."""

from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Literal

from cyclopts import Parameter

from ....domain.facts import instant
from ....domain.recurrence import recurrence
from ....domain.values import check_integer
from ....domain.zones import TZ_VERSION, zone
from ...records import fire_time_record
from ..flags import PLAIN, Flags
from ..inputs import moment
from ..output import emit_many, emit_text, json_text
from ..terminal import say

MOST = 1_000
COLUMNS = ("fire_at", "local")


def preview(
    *,
    cron: Annotated[str, Parameter(help="Five fields, an alias such as @daily, or `every 90m`.")],
    tz: Annotated[str, Parameter(help="The zone whose wall clock it follows.")] = "UTC",
    dst: Annotated[
        Literal["vixie", "wall"], Parameter(help="What happens when clocks are turned.")
    ] = "vixie",
    after: Annotated[
        str | None, Parameter(name="--from", help="Fire times later than this; default: now.")
    ] = None,
    number: Annotated[int, Parameter(name=("-n", "--number"), help=f"How many, at most {MOST}.")] = 5,
    json: Annotated[bool, Parameter(help="One JSON list of moments in UTC.", negative=())] = False,
    flags: Flags = PLAIN,
) -> None:
    """Show the next fire times of an expression; no database is asked.

    An interval is counted from the moment given.
    """
    check_integer("n", number, 1, MOST)
    start = moment("from", after) or datetime.now(UTC)
    found = recurrence(cron, tz, dst, starts_at=start)
    times = list(islice(found.times(start), number))
    if json:
        emit_text(json_text([instant(time) for time in times]))
        return
    place = zone("tz", tz)
    say(f"{found.words()} (tz database {TZ_VERSION})")
    emit_many(flags.output, [fire_time_record(time, place) for time in times], COLUMNS)
