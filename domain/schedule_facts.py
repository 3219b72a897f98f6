"""A schedule's definition as JSON values, for its row and its events, and back; the payload travels beside them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from . import facts
from .job import Specification
from .recurrence import Dst
from .retry import microseconds
from .schedule import Definition, Missed, Overlap, Policies, Schedule, Timing
from .vocabulary import ControlEventName
from .zones import TZ_VERSION

DEFINING = frozenset({ControlEventName.SCHEDULE_CREATED, ControlEventName.SCHEDULE_EDITED})
"""Events that tell of a whole definition."""


def describe(definition: Definition) -> dict[str, Any]:
    """Return everything but the payload, which is represented by its digest; times in microseconds."""
    policies = definition.policies
    return {
        **describe_timing(definition.timing),
        "missed": policies.missed.value,
        "catchup_window_us": None
        if policies.catchup_window is None
        else microseconds(policies.catchup_window),
        "overlap": policies.overlap.value,
        "pause_on_failure": policies.pause_on_failure,
        "job": facts.describe(definition.template),
    }


def restore(data: Mapping[str, Any], payload: str | None) -> Definition:
    """Return the definition that ``describe`` wrote."""
    window = data["catchup_window_us"]
    return Definition(
        timing=restore_timing(data),
        policies=Policies(
            missed=Missed(data["missed"]),
            catchup_window=None if window is None else timedelta(microseconds=window),
            overlap=Overlap(data["overlap"]),
            pause_on_failure=data["pause_on_failure"],
        ),
        template=facts.restore(data["job"], payload),
    )


def unknown(start: datetime, fault: str) -> Definition:
    """Return what stands in for a definition that nobody can read, from ``start`` on; ``fault`` says why."""
    return Definition(timing=unknown_timing(start, fault), template=Specification(type=""))


def describe_change(
    schedule: Schedule, event: ControlEventName, before: Schedule | None = None
) -> dict[str, Any]:
    """Return what the event of a change tells of the schedule after it.

    Where the next fire time is the one from ``before``, who has changed something else says nothing of its rules.
    """
    upcoming = schedule.next_fire_at
    told: dict[str, Any] = {
        "version": schedule.version,
        "next_fire_at": facts.instant_or_none(upcoming),
    }
    if upcoming is not None and not _is_kept(upcoming, schedule, before):
        told["tz_version"] = TZ_VERSION
    if event in DEFINING:
        told["definition"] = describe(schedule.definition)
    if schedule.declared is not None:
        told["declared_by"] = schedule.declared.app
    return told


def _is_kept(upcoming: datetime, schedule: Schedule, before: Schedule | None) -> bool:
    if before is None or before.next_fire_at != upcoming:
        return False
    return before.definition.timing == schedule.definition.timing


def describe_timing(timing: Timing) -> dict[str, Any]:
    """Return when a schedule fires."""
    return {
        "cron": timing.cron,
        "tz": timing.tz,
        "dst": timing.dst.value,
        "starts_at": facts.instant(timing.start),
        "ends_at": facts.instant_or_none(timing.ends_at),
        "jitter_us": microseconds(timing.jitter),
    }


def restore_timing(data: Mapping[str, Any]) -> Timing:
    """Return the timing that ``describe_timing`` or ``describe`` wrote."""
    end = data["ends_at"]
    return Timing(
        cron=data["cron"],
        tz=data["tz"],
        dst=Dst(data["dst"]),
        starts_at=datetime.fromisoformat(data["starts_at"]),
        ends_at=None if end is None else datetime.fromisoformat(end),
        jitter=timedelta(microseconds=data["jitter_us"]),
    )


def unknown_timing(start: datetime, fault: str) -> Timing:
    """Return what stands in for a timing that nobody can read."""
    return Timing(cron="", starts_at=start, fault=fault)
