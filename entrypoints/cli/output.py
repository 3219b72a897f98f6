"""Data on stdout: a table for people, JSON for programs."""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .flags import Output
from .terminal import is_terminal, printable

Record = Mapping[str, Any]
_LEFT_BY_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def chosen(output: Output | None) -> Output:
    """Return how to print: as asked, else a table exactly when stdout is a terminal."""
    return output or ("table" if is_terminal(sys.stdout) else "ndjson")


def emit_many(output: Output | None, records: Iterable[Record], columns: Sequence[str]) -> None:
    """Print records; a table shows only ``columns``."""
    match chosen(output):
        case "table":
            _table(columns, ([_cell(record.get(name)) for name in columns] for record in records))
        case "json":
            _write(json_text(list(records), indent=2))
        case "ndjson":
            for record in records:
                _write(json_text(record))


def emit_one(output: Output | None, record: Record) -> None:
    """Print one record; a table has a row for each field."""
    match chosen(output):
        case "table":
            _table(("field", "value"), ([name, _cell(value)] for name, value in record.items()))
        case "json":
            _write(json_text(record, indent=2))
        case "ndjson":
            _write(json_text(record))


def emit_text(text: str) -> None:
    """Print text made by us, such as SQL."""
    _write(text.rstrip("\n"))


def json_text(value: Any, indent: int | None = None) -> str:
    """Return JSON that no terminal takes for a command."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _LEFT_BY_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return printable(value)
        case _:
            return json_text(value)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.box import SIMPLE  # noqa: PLC0415 - programs that read JSON need not wait for it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=SIMPLE, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(file=sys.stdout, width=None if is_terminal(sys.stdout) else 200, highlight=False).print(table)
