"""What `schedules import-crontab` shows of a crontab: what was understood, and what there is to do."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ....application.crontab.definitions import source_of
from ....application.crontab.found import Refusal
from ....application.crontab.importing import Clash, Kind, Plan, Step
from ....domain.facts import instant_or_none
from ....domain.recurrence import recurrence
from ....domain.schedule import Definition, Schedule
from ....domain.values import decode
from ...records import Record
from ..output import Note

COLUMNS = ("line", "step", "name", "cron", "next_fire_at")
COUNTED: tuple[tuple[Kind, str], ...] = (
    ("create", "to create"),
    ("change", "to change"),
    ("keep", "as they are"),
)


def records(plan: Plan, now: datetime) -> list[Record]:
    """Return a record for each line that means something, in the file's order, and for what has vanished."""
    found = [
        *(_step(step, now) for step in plan.steps),
        *map(_refusal, plan.refusals),
        *map(_clash, plan.clashes),
    ]
    vanished = (_vanished(schedule, plan.renamed(schedule)) for schedule in plan.vanished)
    return [*sorted(found, key=lambda record: int(record["line"])), *vanished]


def summary(plan: Plan) -> str:
    """Return all there is to do in one line."""
    counts = [(len(plan.of(kind)), words) for kind, words in COUNTED]
    renamed = renames(plan)
    counts += [
        (len(plan.clashes), "in the way"),
        (len(plan.refusals), "refused"),
        (renamed, "renamed"),
        (len(plan.vanished) - renamed, "vanished"),
    ]
    return ", ".join(f"{count} {words}" for count, words in counts if count) or "nothing to do"


def users(plan: Plan) -> Iterator[str]:
    """Yield, for each user whom lines that are taken over name, where their commands run."""
    lines: dict[tuple[str, bool], list[str]] = {}
    for step in plan.steps:
        if step.entry.user is not None:
            bound = _payload(step.definition).get("user") is not None
            lines.setdefault((step.entry.user, bound), []).append(str(step.entry.line))
    for (user, bound), numbers in lines.items():
        where = f"line{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
        if bound:
            yield f"{where}: run only on workers of the user {user}; another worker ends the job as dead"
        else:
            yield f"{where}: commands run as the user of the worker that gets them, not as {user}"


def renames(plan: Plan) -> int:
    """Return how many of the vanished have a line still, under another name."""
    return sum(plan.renamed(schedule) is not None for schedule in plan.vanished)


def _step(step: Step, now: datetime) -> Record:
    entry, timing = step.entry, step.definition.timing
    times = recurrence(timing.cron, timing.tz, timing.dst)
    following = next(times.times(now), None)
    return {
        "line": entry.line,
        "step": step.kind,
        "name": entry.name,
        "cron": timing.cron,
        "tz": timing.tz,
        "words": times.words(),
        "next_fire_at": instant_or_none(following),
        "queue": step.definition.template.queue,
        "payload": _payload(step.definition),
        "changes": [] if step.there is None else list(_changes(step.there.definition, step.definition)),
    }


def _changes(before: Definition, after: Definition) -> Iterator[str]:
    """Yield what is different, as people would say it."""
    old, new = _said(before), _said(after)
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield f"{name}: {old.get(name)!r} becomes {new.get(name)!r}"


def _said(definition: Definition) -> dict[str, Any]:
    said = _payload(definition)
    environment = {f"environment.{name}": value for name, value in said.pop("environment", {}).items()}
    timing = {"cron": definition.timing.cron, "tz": definition.timing.tz}
    return {**timing, "queue": definition.template.queue, **said, **environment}


def _payload(definition: Definition) -> dict[str, Any]:
    payload = decode("payload", definition.template.payload or "{}")
    return dict(payload) if isinstance(payload, dict) else {}


def _refusal(refusal: Refusal) -> Record:
    return {
        "line": refusal.line,
        "step": "refused",
        "text": refusal.text,
        "reason": refusal.reason,
        "instead": refusal.instead,
    }


def _clash(clash: Clash) -> Record:
    whose = "no crontab" if clash.source is None else clash.source
    instead = (
        None if clash.source is None else "take another --prefix; if the file has only moved, say --take-over"
    )
    return {
        "line": clash.entry.line,
        "step": "in the way",
        "name": clash.entry.name,
        "reason": f"there is a schedule of this name, from {whose}",
        "instead": instead or "take another --prefix",
    }


def _vanished(schedule: Schedule, now: str | None) -> Record:
    return {
        "line": None,
        "step": "vanished" if now is None else "renamed",
        "name": schedule.name,
        "renamed_to": now,
        "cron": schedule.definition.timing.cron,
        "tz": schedule.definition.timing.tz,
        "payload": _payload(schedule.definition),
        "source": source_of(schedule.definition),
    }


def _told(record: Mapping[str, Any]) -> str:
    match record["step"]:
        case "refused" | "in the way":
            return "; ".join(filter(None, (record.get("text"), record["reason"], record["instead"])))
        case "change":
            return "; ".join(record["changes"])
        case "vanished":
            return f"{record['payload'].get('command')}: no line stands for it any more"
        case "renamed":
            return (
                f"{record['payload'].get('command')}: its line is {record['renamed_to']} now, and both fire"
            )
        case _:
            return f"{record['words']}: {record['payload'].get('command')}"


WHAT = Note("what", _told, whole=True)
