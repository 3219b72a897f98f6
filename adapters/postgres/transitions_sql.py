"""The transition table as set-based SQL: what its rules come to for a set of commands.

Read as a pipeline of nodes: rows are held (locked), then ruled (``h``: the clock is read, and which rule holds), then
moved (``j`` updated, ``m`` its outcome) and logged. No rule is written here: all come from ``domain.transitions``.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import field, frozen

from ...domain.commands import JobError
from ...domain.conditions import Condition as If
from ...domain.decide import SNOOZE_CAP, describe_error
from ...domain.effects import ENDINGS
from ...domain.event import IMPLIED
from ...domain.transitions import Due, Rule, rules_of
from ...domain.vocabulary import CommandName, EventName, State
from . import effects
from .backoff import MICROSECOND, backoff
from .conditions import columns, render

CLOCK = "coalesce(CAST(:now AS timestamptz), clock_timestamp())"
"""The clock; ``:now`` is the seam through which tests own it."""
NOTHING = "NULL"
_CAPPED = {CommandName.SNOOZE, CommandName.RELEASE}


def quoted(text: str) -> str:
    """Return a constant of ours as an SQL literal inside a text clause."""
    literal = text.replace("'", "''").replace(":", r"\:")
    return f"'{literal}'"


@frozen
class Transitions:
    """The rules of some commands that start from one state.

    ``given`` names the columns that came with the commands, ``constants`` has the types of what is one for all.
    """

    commands: frozenset[CommandName]
    given: Sequence[str] = ()
    constants: Mapping[str, str] = field(factory=dict)
    rules: tuple[Rule, ...] = field(init=False)

    @rules.default
    def _rules(self) -> tuple[Rule, ...]:
        return rules_of(self.commands)

    @property
    def source(self) -> State:
        """The state that all the rules start from."""
        [source] = {rule.source for rule in self.rules}
        return source

    @property
    def shared(self) -> dict[If, bool]:
        """What every rule demands: it decides which rows are held at all."""
        first, *others = (rule.when.items() for rule in self.rules)
        return {
            condition: wanted
            for condition, wanted in first
            if all((condition, wanted) in other for other in others)
        }

    def guard(self, *, job: str, given: str = "", now: str = "") -> str:
        """Return the conditions that every rule demands."""
        return " AND ".join(
            render(condition, wanted, job=job, given=given, now=now)
            for condition, wanted in self.shared.items()
        )

    @property
    def held(self) -> list[str]:
        """The columns of a job that later nodes need as they were."""
        conditions = {condition for rule in self.rules for condition in rule.when} - set(self.shared)
        needed = columns(conditions)
        if any(rule.event in ENDINGS for rule in self.rules):
            needed |= {"lease_expires_at", "heartbeats"}
        if any(rule.due is Due.BACKOFF for rule in self.rules):
            needed |= {"retry", "failures"}
        return sorted(needed)

    @property
    def ruling(self) -> str:
        """Which rule holds, as its number; NULL when none does."""
        if len(self.rules) == 1:
            return "0"
        cases = (f"WHEN {self._matches(rule)} THEN {number}" for number, rule in enumerate(self.rules))
        return f"CASE {' '.join(cases)} END"

    def _matches(self, rule: Rule) -> str:
        own = [
            render(condition, wanted, job="h", given="h", now=CLOCK)
            for condition, wanted in rule.when.items()
            if condition not in self.shared
        ]
        command = [f"h.command = {quoted(rule.command)}"] if len(self.commands) > 1 else []
        return " AND ".join(command + own) or "true"

    def value(self, name: str, node: str = "h") -> str:
        """Return what came with the command under a name, or NULL."""
        if name in self.constants:
            return f"CAST(:{name} AS {self.constants[name]})"
        return f"{node}.{name}" if name in self.given else NOTHING

    @property
    def assignments(self) -> str:
        """The SET clause."""
        moved = {
            "seq": "j.seq + 1",
            "state": self._by_rule(lambda rule: quoted(rule.target)),
            "failures": self._by_rule(
                lambda rule: f"j.failures + {int(rule.counts)}" if rule.counts else "j.failures"
            ),
            "run_at": self._by_rule(self._run_at),
        }
        for name in effects.touched(map(_event, self.rules)):
            moved[name] = self._by_rule(lambda rule, name=name: self._after(rule, name))  # type: ignore[misc]
        return ", ".join(f"{name} = {to}" for name, to in moved.items() if to != f"j.{name}")

    def _after(self, rule: Rule, name: str) -> str:
        return effects.after(name, _event(rule), self.value)

    def _run_at(self, rule: Rule) -> str:
        if rule.target is not State.PENDING:
            return "j.run_at"
        wait = f"{self.value('wait_us')} * {MICROSECOND}"
        match rule.due:
            case Due.NOW:
                return "h.at"
            case Due.DELAY:
                return f"h.at + {wait}"
            case Due.BACKOFF:
                after = backoff("h", "h.draw")
                chosen = rule.command is CommandName.FAIL and "wait_us" in self.given
                return f"h.at + coalesce({wait}, {after})" if chosen else f"h.at + {after}"
            case _:
                return "j.run_at"

    @property
    def event(self) -> dict[str, str]:
        """The columns of the event, from the outcome ``m``."""
        written = {
            **{name: f"m.{name}" for name in ("job_id", "seq", "attempt", "failures", "state", "at")},
            "name": self._by_rule(lambda rule: quoted(_event(rule)), "m"),
            "command": self._by_rule(_explicit_command, "m"),
            "run_at": self._by_rule(
                lambda rule: "m.run_at" if rule.target is State.PENDING else NOTHING, "m"
            ),
            **{name: f"m.{name}" for name in ("lease_expires_at", "claim_id")},
            "heartbeats": "m.heartbeats" if "heartbeats" in self.held else NOTHING,
            **{name: self.value(name, "m") for name in ("actor", "request_id", "reason", "build")},
            "started_at": _since_epoch(self.value("started_us", "m")),
            "ran": _times(self.value("ran_us", "m"), MICROSECOND),
            "data": self._by_rule(self._data, "m"),
            "result": _cast(self.value("result", "m"), "json"),
        }
        return {name: value for name, value in written.items() if value != NOTHING}

    def _data(self, rule: Rule) -> str:
        if rule.command in _CAPPED and rule.event is EventName.FAILED:
            error = json.dumps({"error": describe_error(JobError(SNOOZE_CAP))})
            return _cast(quoted(error), "jsonb")
        return _cast(self.value("data", "m"), "jsonb")

    def _by_rule(self, value: Callable[[Rule], str], node: str = "h") -> str:
        """Return one expression when all rules agree, or else a CASE over their numbers."""
        numbers: dict[str, list[str]] = {}
        for number, rule in enumerate(self.rules):
            numbers.setdefault(value(rule), []).append(str(number))
        if len(numbers) == 1:
            return next(iter(numbers))
        *cases, (last, _) = numbers.items()
        whens = (f"WHEN {node}.rule IN ({', '.join(among)}) THEN {to}" for to, among in cases)
        return f"CASE {' '.join(whens)} ELSE {last} END"


def _event(rule: Rule) -> EventName:
    assert rule.event is not None
    return rule.event


def _explicit_command(rule: Rule) -> str:
    return NOTHING if IMPLIED.get(_event(rule)) is rule.command else quoted(rule.command)


def _cast(value: str, kind: str) -> str:
    return NOTHING if value == NOTHING else f"CAST({value} AS {kind})"


def _since_epoch(value: str) -> str:
    return NOTHING if value == NOTHING else f"timestamptz 'epoch' + {value} * {MICROSECOND}"


def _times(value: str, unit: str) -> str:
    return NOTHING if value == NOTHING else f"{value} * {unit}"


def columns_of(node: str, names: Iterable[str]) -> str:
    """Return a list of columns of a node."""
    return ", ".join(f"{node}.{name}" for name in names)
