"""Schedules in answers."""

from collections.abc import Mapping

from starlette.responses import Response

from ....domain.schedule import Schedule, unreadable
from ...records import Record, drift_record, schedule_record
from ..render import json_response, stored

BELOW = ("next", "firings", "backfills")
"""Words that follow a schedule's name in the paths of what can be read of it."""

STEPS = (".", "..")


def shown(schedule: Schedule, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a schedule in full, its version as the ETag.

    The ETag is for If-Match alone, nothing is answered with 304 by it: where a schedule stands moves with each firing,
    while its version stays.
    """
    whole, payload = {**listed(schedule), **drift_record(schedule)}, schedule.definition.template.payload
    whole["job"]["payload"] = None if payload is None else stored(payload)
    return json_response(whole, status, {"ETag": f'"{schedule.version}"', **(headers or {})})


def listed(schedule: Schedule) -> Record:
    """Return a schedule without payload, and what its expression means as long as its fire times are known."""
    timing = schedule.definition.timing
    words = timing.recurrence.words() if unreadable(timing) is None else None
    return {**schedule_record(schedule), "words": words}


def address(name: str) -> str:
    """Return the path of a schedule, as it leads there.

    A slash before a word that has a meaning there is written ``%2F``, and a dot that clients would take for a step in a
    path ``%2E``.
    """
    parts = (part.replace(".", "%2E") if part in STEPS else part for part in name.split("/"))
    before, slash, last = "/".join(parts).rpartition("/")
    return f"/v1/schedules/{before}{'%2F' if slash and last in BELOW else slash}{last}"
