"""Statements apart from their execution: one plan runs on any connection, ours or the caller's, async or sync."""

import re
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import field, frozen
from sqlalchemy import Executable
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.sql import ClauseElement, visitors

T = TypeVar("T")
Row = Sequence[Any]
Rows = Sequence[Row]
"""Rows in the columns' order; unpack them, as drivers differ in everything else."""

_DIALECT = PGDialect_psycopg()  # type: ignore[no-untyped-call]
_WRITING = {"insert", "update", "delete"}
_PLACE = re.compile(r"%\((\w+)\)s|%%")


def _compiled(core: Executable) -> tuple[str, Mapping[str, Any]]:
    assert isinstance(core, ClauseElement)
    compiled = core.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
    return str(compiled), {name: value for name, value in compiled.params.items() if value is not None}


def _numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with PostgreSQL's own placeholders, and the names they stand for."""
    numbers: dict[str, int] = {}

    def number(place: re.Match[str]) -> str:
        name = place[1]
        return f"${numbers.setdefault(name, len(numbers) + 1)}" if name else "%"

    return _PLACE.sub(number, sql), tuple(numbers)


def _writes(core: Executable) -> bool:
    """Tell whether any part of the statement changes rows."""
    assert isinstance(core, ClauseElement)
    return any(part.__visit_name__ in _WRITING for part in visitors.iterate(core))


class Statement:
    """A Core statement compiled once to psycopg's SQL; ``core`` is for a caller's SQLAlchemy connection.

    ``raw`` is the same with numbered placeholders, for psycopg's raw cursors: others read the text again at each
    execution, which for our statements takes longer than sending them. ``names`` has its parameters in order.

    ``writes`` decides what a lost connection means: nothing for a read, an unknown outcome for the rest. Give it where
    the statement's text does not tell, as when it calls a function that writes.
    """

    __slots__ = ("core", "defaults", "names", "raw", "sql", "writes")

    def __init__(self, core: Executable, *, writes: bool | None = None) -> None:
        """Compile ``core``; parameters are its named bindparams, arrays being typed."""
        self.core = core
        self.sql, self.defaults = _compiled(core)
        self.raw, self.names = _numbered(self.sql)
        self.writes = _writes(core) if writes is None else writes

    def __call__(self, **parameters: Any) -> "Query":
        """Return the statement with its parameters' values."""
        return Query(self, parameters)


@frozen
class Query:
    """One statement to run, with the values of its parameters."""

    statement: Statement
    parameters: Mapping[str, Any] = field(factory=dict)

    @property
    def values(self) -> Mapping[str, Any]:
        """All values the SQL text asks for, those bound when it was built included."""
        return {**self.statement.defaults, **self.parameters}

    @property
    def numbered(self) -> list[Any]:
        """The same values, in the order of the placeholders of ``Statement.raw``."""
        values = self.values
        return [values[name] for name in self.statement.names]


@frozen
class CopyIn(Query):
    """A COPY FROM STDIN, with the data it reads; only our own connections run it."""

    blocks: Iterable[bytes] = ()


Plan = Generator[Query, Rows, T]
"""Statements of one transaction: each ``yield`` gives back rows, the end returns the answer."""


def run_plan(plan: Plan[T], execute: Callable[[Query], Rows]) -> T:
    """Run a plan's statements one by one; the transaction around them is the caller's."""
    try:
        query = next(plan)
        while True:
            query = plan.send(execute(query))
    except StopIteration as end:
        answer: T = end.value
        return answer
    finally:
        plan.close()


async def run_plan_async(plan: Plan[T], execute: Callable[[Query], Awaitable[Rows]]) -> T:
    """Run a plan as ``run_plan`` does, awaiting each statement."""
    try:
        query = next(plan)
        while True:
            query = plan.send(await execute(query))
    except StopIteration as end:
        answer: T = end.value
        return answer
    finally:
        plan.close()
