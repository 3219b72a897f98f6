"""Results as lines of JSON, and which of them count."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

Row = dict[str, Any]
Key = tuple[str, str, str | None, int | None]
"""System, scenario, profile (None: the only one), clients (of the floor)."""

LIST = Path(__file__).with_name("results.jsonl")


def load(file: Path = LIST) -> list[Row]:
    """Return every line as it is; none when there is no file."""
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]


def newest(rows: Iterable[Row]) -> dict[Key, list[Row]]:
    """Return, for each measurement, the rows of the last start of the driver that made it; all its runs count."""
    latest: dict[Key, list[Row]] = {}
    for row in rows:
        key = (row["system"], row["scenario"], row.get("profile"), row.get("clients"))
        known = latest.get(key, [])
        if known and known[0].get("began", "") > row.get("began", ""):
            continue
        same = known and known[0].get("began", "") == row.get("began", "")
        latest[key] = [*known, row] if same else [row]
    return latest


def values(rows: Sequence[Row], *fields: str) -> list[float]:
    """Return the sum of these fields for each run that has them all."""
    return [
        sum(row[name] for name in fields) for row in rows if all(row.get(name) is not None for name in fields)
    ]


def middle(rows: Sequence[Row], *fields: str) -> float | None:
    """Return the median of the runs; None when no run has the fields."""
    found = values(rows, *fields)
    return median(found) if found else None
