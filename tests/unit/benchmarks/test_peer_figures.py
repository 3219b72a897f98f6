"""What the peers came to, as the benchmarks tell it."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.repository import ROOT

Values = Callable[[str, Path], dict[str, float]]


@pytest.fixture
def peer_values(monkeypatch: pytest.MonkeyPatch) -> Values:
    """The function, found as ``python benchmarks`` finds it."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    values: Values = importlib.import_module("peer_figures").peer_values
    return values


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    """Results as the driver leaves them."""
    file = folder / "results.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def drain(system: str, per_s: float, began: str = "2031-01-01T00:00:00+00:00", **more: Any) -> dict[str, Any]:
    """One result of the scenario drain."""
    return {"system": system, "scenario": "drain", "began": began, "per_s": per_s, **more}


def test_each_peer_is_told_with_the_median_of_its_runs(peer_values: Values, tmp_path: Path) -> None:
    """One disturbed run does not decide, and our own results are not among the peers'."""
    runs = [drain("graphile", rate) for rate in (40_000, 41_000, 9_000)]
    file = written(
        tmp_path, *runs, drain("oban", 2_000), drain("fencepost", 50_000), drain("floor", 45_000, clients=2)
    )
    assert peer_values("drain", file) == {"graphile": 40_000, "oban": 2_000}


def test_only_the_newest_start_of_the_driver_counts(peer_values: Values, tmp_path: Path) -> None:
    """Older results of the same measurement are left out, those of others stay."""
    newer = "2031-01-02T00:00:00+00:00"
    file = written(
        tmp_path, drain("awa", 1), drain("oban", 2), drain("awa", 5, newer), drain("awa", 7, newer)
    )
    assert peer_values("drain", file) == {"awa": 6, "oban": 2}


def test_cpu_is_told_in_microseconds_of_worker_and_server_together(
    peer_values: Values, tmp_path: Path
) -> None:
    """The driver keeps milliseconds, and both apart."""
    file = written(tmp_path, drain("oban", 2, worker_cpu_ms_per_job=0.25, pg_cpu_ms_per_job=0.5))
    assert peer_values("cpu", file) == {"oban": 750}


def test_crashes_are_told_by_profile_and_without_peers_that_never_recovered(
    peer_values: Values, tmp_path: Path
) -> None:
    """A peer whose jobs did not come back within the limit has no number of seconds."""
    common = {"scenario": "crash", "began": "2031-01-01T00:00:00+00:00"}
    file = written(
        tmp_path,
        {**common, "system": "awa", "profile": "best", "all_s": 93.0},
        {**common, "system": "awa", "profile": "quick", "all_s": 7.0},
        {**common, "system": "pgboss", "profile": "best", "all_s": None},
        {**common, "system": "graphile", "profile": "quick", "skipped": "no profile quick"},
    )
    assert peer_values("crash", file) == {"awa": 93.0}
    assert peer_values("crash_quick", file) == {"awa": 7.0}


def test_without_results_there_are_no_peers(peer_values: Values, tmp_path: Path) -> None:
    """Benchmarks run on machines where no peer was ever measured."""
    assert peer_values("drain", tmp_path / "results.jsonl") == {}


def test_a_figure_without_a_counterpart_has_no_peers(peer_values: Values, tmp_path: Path) -> None:
    """Some figures are our own affair."""
    assert peer_values("http", written(tmp_path, drain("oban", 1))) == {}
