"""The flags that define a schedule, and the definition they make or change."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from attrs import evolve, frozen
from cyclopts import Group, Parameter

from ....domain.durations import duration
from ....domain.errors import InvalidInput
from ....domain.job import Specification
from ....domain.recurrence import Dst
from ....domain.schedule import Definition, Missed, Overlap, Policies, Timing
from ...api.moments import moment as rfc3339
from ..inputs import clearable, moment
from ..template import Template

WHEN = Group("When it fires", sort_key=3)
LATE = Group("When that is hard to keep", sort_key=4)
DstWord = Literal["vixie", "wall"]
MissedWord = Literal["all", "latest", "skip"]
OverlapWord = Literal["allow", "skip", "queue_one", "cancel_running"]


@Parameter(name="*", group=WHEN)
@frozen(kw_only=True)
class When:
    """What is not given stays as it is, or is the default in brackets."""

    cron: Annotated[str | None, Parameter(help="Five fields, an alias such as @daily, or `every 90m`")] = None
    tz: Annotated[str | None, Parameter(help="The zone whose wall clock it follows [UTC].")] = None
    dst: Annotated[DstWord | None, Parameter(help="What happens when clocks are turned [vixie].")] = None
    start: Annotated[
        str | None,
        Parameter(help="From this moment on, from which intervals are counted [its creation]."),
    ] = None
    end: Annotated[str | None, Parameter(help="Until this moment; none for no end [none].")] = None
    jitter: Annotated[
        str | None, Parameter(help="Jobs are due up to this much after their fire time [0s].")
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what was given, by the names of a timing's fields; raises InvalidInput."""
        fields: dict[str, Any] = {
            "cron": self.cron,
            "tz": self.tz,
            "dst": None if self.dst is None else Dst(self.dst),
            "starts_at": moment("start", self.start),
            "jitter": None if self.jitter is None else duration("jitter", self.jitter),
        }
        return _given(fields) | clearable("ends_at", self.end, lambda _, text: rfc3339("end", text))


@Parameter(name="*", group=LATE)
@frozen(kw_only=True)
class Rules:
    """What is not given stays as it is, or is the default in brackets."""

    missed: Annotated[
        MissedWord | None, Parameter(help="What becomes of fire times missed by more than 10 s [latest].")
    ] = None
    catchup_window: Annotated[
        str | None, Parameter(help="Those missed by more than this are skipped; none for no limit [none].")
    ] = None
    overlap: Annotated[
        OverlapWord | None,
        Parameter(help="What becomes of one while a job is unfinished [skip; allow with --missed all]."),
    ] = None
    pause_on_failure: Annotated[bool | None, Parameter(help="Pause when its last job is dead [no].")] = None

    def given(self) -> dict[str, Any]:
        """Return what was given, by the names of the policies' fields; raises InvalidInput."""
        fields: dict[str, Any] = {
            "missed": None if self.missed is None else Missed(self.missed),
            "overlap": None if self.overlap is None else Overlap(self.overlap),
            "pause_on_failure": self.pause_on_failure,
        }
        return _given(fields) | clearable("catchup_window", self.catchup_window, duration)


ANYTIME, USUAL = When(), Rules()
"""No flag given."""


def defined(type: str, when: When, rules: Rules, template: Template) -> Definition:
    """Return a new definition, unchecked but for what cannot be read; raises InvalidInput."""
    timing = when.given()
    if "cron" not in timing:
        raise InvalidInput("cron", "must be given, such as --cron '30 2 * * *' or --cron 'every 90m'")
    return Definition(
        timing=Timing(**timing),
        template=Specification(type=type, **_job(template)),
        policies=Policies(**rules.given()),
    )


@frozen
class Amendment:
    """What an edit gives: parts of a definition."""

    timing: dict[str, Any]
    policies: dict[str, Any]
    template: dict[str, Any]

    def of(self, there: Definition) -> Definition:
        """Return the definition with those parts changed."""
        return Definition(
            timing=evolve(there.timing, **self.timing),
            template=evolve(there.template, **self.template),
            policies=evolve(there.policies, **self.policies),
        )


@contextmanager
def flags_named() -> Iterator[None]:
    """Call start and end what their flags are called, in what is wrong with them."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(_flags_in(error.field), _flags_in(error.rule)) from error


def _flags_in(text: str) -> str:
    return text.replace("starts_at", "start").replace("ends_at", "end")


def amendment(type: str | None, when: When, rules: Rules, template: Template) -> Amendment:
    """Return what was given; raises InvalidInput for nothing, and for what cannot be read."""
    given = Amendment(when.given(), rules.given(), _given({"type": type}) | _job(template))
    if not (given.timing or given.policies or given.template):
        raise InvalidInput("edit", "must change something: give a flag such as --cron or --queue")
    return given


def _job(template: Template) -> dict[str, Any]:
    return template.given() | _given({"payload": template.payload_text()})


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
