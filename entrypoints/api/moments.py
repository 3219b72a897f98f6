"""Moments in requests: RFC 3339 ``date-time``, nothing else.

``2030-01-31T23:59:59.123456Z`` or with an offset such as ``+02:00``, which is required. ``t`` and ``z`` may be small,
as in the RFC; a space in place of ``T``, missing seconds, week dates, the basic format, a leap second (``:60``, which
the database cannot keep), 24:00, numbers and words such as ``now`` are refused. What goes beyond microseconds is cut.
"""

import re
from datetime import UTC, datetime

from ...domain.errors import InvalidInput
from ...domain.values import check_moment

RULE = "must be an RFC 3339 date-time with an offset, such as 2030-01-31T23:59:59Z"
_FORM = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,30}))?(Z|[+-][0-9]{2}:[0-9]{2})",
    re.IGNORECASE | re.ASCII,
)


def moment(field: str, value: object) -> datetime:
    """Return a moment in UTC; raises InvalidInput."""
    found = _FORM.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise InvalidInput(field, RULE)
    date, time, fraction, offset = found.groups()
    microseconds = (fraction or "")[:6].ljust(6, "0")
    try:
        parsed = datetime.fromisoformat(
            f"{date}T{time}.{microseconds}{offset.upper().replace('Z', '+00:00')}"
        )
    except ValueError as error:
        raise InvalidInput(field, RULE) from error
    return check_moment(field, parsed).astimezone(UTC)
