"""Moments in the data of events: text that anybody may have written."""

from datetime import datetime


def moment(text: object) -> datetime | None:
    """Return the moment that text stands for, None when it is no aware one."""
    try:
        found = datetime.fromisoformat(text)  # type: ignore[arg-type]  # whatever JSON holds: TypeError says so
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else None
