"""What the benchmarks stand on: jobs put there in bulk are as good as submitted ones, and no broken history passes."""

import asyncio
import importlib
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import psycopg
import pytest

from fencepost import Fencepost
from support.repository import ROOT

JOBS = "SELECT state, count(*) FROM fencepost.jobs GROUP BY state ORDER BY state"


class Import(Protocol):
    """Loads a module of the benchmarks."""

    def __call__(self, name: str) -> Any: ...


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Import:
    """Modules are found as ``python benchmarks`` finds them."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def asked(dsn: str, query: str) -> list[tuple[Any, ...]]:
    """All rows."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


async def cancel(dsn: str, job_id: int) -> None:
    """As a user does it."""
    async with Fencepost(dsn) as app:
        await app.cancel(job_id)


def test_a_drain_counts_its_own_jobs_beside_whatever_is_there(load: Import, emptied: str) -> None:
    """Copies of other jobs stay as they are: of another queue, due later, finished; and the whole history holds."""
    filling, draining = load("ground.filling"), load("ground.draining")
    filling.fill_finished(emptied, 20)
    filling.fill(emptied, 30, queue="other")
    filling.fill(
        emptied,
        40,
        run_at=datetime.now(UTC) + timedelta(days=1),
        spread=timedelta(seconds=1),
        type="unhandled",
    )
    draining.drained(emptied, 50)
    assert asked(emptied, JOBS) == [("pending", 70), ("succeeded", 70)]


def test_copies_are_what_the_pattern_was(load: Import, emptied: str) -> None:
    """A pattern that was cancelled meanwhile goes on being copied as a pending job, due in the present."""
    filling, copying = load("ground.filling"), load("ground.copying")
    job_id = filling.submit(emptied, 1) + 1
    with psycopg.connect(emptied, autocommit=True) as connection:
        pattern = copying.Pattern(connection, job_id)
        asyncio.run(cancel(emptied, job_id))
        pattern.copy(3)
    assert asked(emptied, JOBS) == [("cancelled", 1), ("pending", 3)]
    assert asked(emptied, "SELECT count(DISTINCT run_at) FROM fencepost.jobs") == [(2,)]


@pytest.mark.unproven("a row is changed behind the history's back")
@pytest.mark.parametrize("whole", [100, 1])
def test_a_broken_history_is_found_in_full_or_in_an_excerpt(
    load: Import, emptied: str, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long history the newest jobs are judged, all of them."""
    filling, judging = load("ground.filling"), load("ground.judging")
    monkeypatch.setattr(judging, "WHOLE", whole)
    job_id = filling.submit(emptied, 10) + 10
    assert judging.judge(emptied).violations == 0
    with psycopg.connect(emptied, autocommit=True) as connection:
        connection.execute("UPDATE fencepost.jobs SET priority = 9 WHERE job_id = %s", [job_id])
    assert judging.judge(emptied).violations > 0


def test_options_come_from_flags_else_from_the_environment(
    load: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make bench FIGURE=a,b RUNS=2` and `python benchmarks a b --runs 2` ask for the same; a flag wins."""
    options, known = load("ground.options"), ("a", "b", "c")
    monkeypatch.setenv("FIGURE", "a,b")
    monkeypatch.setenv("RUNS", "2")
    assert options.parsed([], known) == options.Options(figures=["a", "b"], runs=2)
    assert options.parsed(["c", "--runs", "3"], known) == options.Options(figures=["c"], runs=3)
    with pytest.raises(SystemExit):
        options.parsed(["d"], known)


def test_without_pgbench_there_is_no_floor_and_the_reason_is_told(
    load: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A figure is measured all the same."""
    floors = load("ground.floor")
    monkeypatch.setattr(floors.shutil, "which", lambda _: None)
    monkeypatch.setattr(floors, "PROGRAMS", ())
    found = floors.floor(load("ground.server").Server("postgresql://nowhere"))
    assert found.missing == "pgbench is not installed"
    assert found.drained(1) is found.inserted(1) is None


def test_every_figure_is_told_to_the_reader(load: Import) -> None:
    """The list in the code and the table in the text name the same figures."""
    figures = load("figures").FIGURES
    table = (ROOT / "benchmarks" / "README.md").read_text().split("## How to read")[0]
    assert [name for name in figures if f"`{name}`" not in table] == []
