"""What a figure works with: its options, its databases, the floor; and what a figure comes to."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from attrs import define, field, frozen

from fencepost.adapters.postgres.migrations import migrate

from .filling import freeze
from .floor import Floor, floor
from .judging import Judgement, judge
from .options import Options
from .server import Server, name_of, serving

T = TypeVar("T")
RUNS = 5


@frozen(kw_only=True)
class Outcome:
    """A figure's value; ``floor`` is in the same unit. ``details`` are printed beside it."""

    value: float | None
    unit: str
    floor: float | None = None
    details: Mapping[str, Any] = field(factory=dict)


@define(eq=False)
class Bench:
    """Every database is judged by the checker when its block ends; ``judgement`` adds them up."""

    options: Options
    address: str | None
    judgement: Judgement = field(factory=Judgement)
    _closing: ExitStack = field(factory=ExitStack, init=False)
    _server: Server | None = field(default=None, init=False)
    _templates: dict[object, str] = field(factory=dict, init=False)
    _known: dict[object, tuple[Any, Judgement]] = field(factory=dict, init=False)

    @property
    def server(self) -> Server:
        """The server, started when first asked for."""
        if self._server is None:
            self._server = self._closing.enter_context(serving(self.address))
        return self._server

    @property
    def floor(self) -> Floor:
        """The floor on the same server."""
        found = floor(self.server)
        if found.missing:
            self.say(f"the floor is left out: {found.missing}")
        return found

    def runs(self, default: int = RUNS) -> Iterator[int]:
        """Count the runs."""
        number = self.options.runs or default
        for run in range(1, number + 1):
            self.say(f"run {run} of {number}")
            yield run

    def turns(self, things: Sequence[T], runs: int = RUNS) -> Iterator[T]:
        """Go through what is compared in every run, every other time backwards: neither may gain by its place."""
        for run in self.runs(runs):
            yield from things if run % 2 else reversed(things)

    @contextmanager
    def database(self, template: str | None = None) -> Iterator[str]:
        """Yield the address of a migrated database, or a copy of a template; judge it at the end."""
        with self.server.database(template or self.template("empty", lambda _: None)) as dsn:
            yield dsn
            with self._timed("the checker"):
                judgement = judge(dsn)
        self.judgement += judgement

    def once(self, key: object, measure: Callable[[], T]) -> T:
        """Measure what several figures are read from only once."""
        if key not in self._known:
            before, self.judgement = self.judgement, Judgement()
            self._known[key] = measure(), self.judgement
            self.judgement = before
        value, judgement = self._known[key]
        self.judgement += judgement
        return value  # type: ignore[no-any-return]  # what is kept under a key has one type

    def template(self, key: object, build: Callable[[str], None]) -> str:
        """Return the name of a database to copy, built once; it is dropped when all is over."""
        if key not in self._templates:
            dsn = self._closing.enter_context(self.server.database())
            with self._timed(f"template {key}"):
                migrate(dsn)
                build(dsn)
                freeze(dsn)
            self._templates[key] = name_of(dsn)
        return self._templates[key]

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.say(f"{what}: {time.monotonic() - began:.1f} s")

    def say(self, text: str) -> None:
        """Tell who is waiting how far it is."""
        print(f"    {text}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Drop the templates and stop an embedded server."""
        self._closing.close()
