"""What the commands show of schedules."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ....domain.schedule import Schedule
from ....domain.zones import zone
from ...records import Record, drift_record, local_time, schedule_record, schedule_state
from ..output import Note, json_text
from ..tables import moment
from ..terminal import say
from .lateness import lateness, overdue

UTC_NAME = "UTC"

SHOWN = (
    *("name", "state", "paused_at", "pause_reason", "words", "next_fire_times", "next_fire_at"),
    *("cron", "tz", "dst", "starts_at", "ends_at", "jitter"),
    *("missed", "catchup_window", "overlap", "pause_on_failure"),
    *("type", "payload", "queue", "priority", "max_attempts", "timeout", "lease", "retry"),
    *("waiting", "open_jobs", "last_job", "last_firings", "created_at", "version"),
    *("declared_by", "drift"),
)
"""What people are shown of a schedule, as far as there is something to show."""


def told(schedule: Schedule) -> Record:
    """Return everything that is true of a schedule now."""
    record = schedule_record(schedule)
    payload = schedule.definition.template.payload
    record["job"]["payload"] = None if payload is None else json.loads(payload)
    return record | drift_record(schedule)


def row(schedule: Schedule, *, now: datetime) -> Record:
    """Return a schedule as the table of all of them shows it: how late it is beside its next fire time."""
    record = schedule_record(schedule)
    return {**record, "late": overdue(schedule, now), "drifted": ", ".join(record["drifted"])}


def tell_if_over(schedule: Schedule) -> None:
    """Say of a schedule that never fires by itself that it does not."""
    if schedule_state(schedule) == "over":
        say(f"schedule {schedule.name} is over: no fire time is left before its end")


def difference(one: Mapping[str, Any]) -> str:
    """Return such a record as text."""
    return f"{one['field']}: {_shown(one['schedule'])}, in the code {_shown(one['code'])}"


def for_people(record: Record) -> Record:
    """Return a schedule's record as a table shows it: its job's fields beside its own, and only what there is."""
    told = {**record, **record["job"]}
    if "next_fire_times" in record:
        told["next_fire_times"] = "\n".join(_on_the_wall(record["next_fire_times"], record["tz"]))
        told["next_fire_at"] = None
        told["last_firings"] = "\n".join(map(decision, record["last_firings"]))
    told["drift"] = "\n".join(map(difference, record["drift"]))
    shown = {name: told.get(name) for name in SHOWN}
    return {name: value for name, value in shown.items() if not _absent(value)}


def _on_the_wall(times: Iterable[str], tz: str) -> Iterator[str]:
    """Yield moments, and beside them what the clock of a zone other than UTC shows, with its offset."""
    for time in times:
        there = None if tz == UTC_NAME else local_time(datetime.fromisoformat(time), zone("tz", tz))
        yield moment(time) if there is None else f"{moment(time)}  {there}"


def decision(firing: Mapping[str, Any]) -> str:
    """Return a row of the ledger as one line."""
    until = f" to {moment(firing['until'])} ({firing['count']})" if firing["until"] else ""
    job = f", job {firing['job_id']}" if firing["job_id"] else ""
    late = lateness(firing)
    how_late = f", {late} late" if late else ""
    return f"{moment(firing['fire_at'])}{until} {firing['outcome']}: {firing['reason']}{job}{how_late}"


def _shown(value: object) -> str:
    return moment(value) if isinstance(value, str) else json_text(value)


def _absent(value: object) -> bool:
    return value is None or value is False or value in ("", [])


TYPE = Note("type", lambda record: str(record["job"]["type"]))
