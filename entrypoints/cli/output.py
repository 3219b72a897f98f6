"""Data on stdout: a table for people, JSON for programs."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from . import tables
from .flags import Output
from .terminal import is_terminal, printable

Record = Mapping[str, Any]
LINES = {"traceback", "next_fire_times", "last_firings"}
"""Fields whose text has lines of its own on a terminal, too."""
_LEFT_BY_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@frozen
class Note:
    """A last column of free text, which is cut where it finds no room, or shown ``whole`` below its row."""

    name: str
    of: Callable[[Record], str]
    whole: bool = False


def chosen(output: Output | None) -> Output:
    """Return how to print: as asked, else a table exactly when stdout is a terminal."""
    return output or ("table" if is_terminal(sys.stdout) else "ndjson")


def emit_many(
    output: Output | None, records: Iterable[Record], columns: Sequence[str], note: Note | None = None
) -> None:
    """Print records; a table shows only ``columns``, and at the end a note."""
    match chosen(output):
        case "table":
            _table(list(records), columns, note)
        case "json":
            _write(json_text(list(records), indent=2))
        case "ndjson":
            for record in records:
                _write(json_text(record))


def emit_one(output: Output | None, record: Record, people: Record | None = None) -> None:
    """Print one record; a table has a line for each field, ``people`` is what it shows where that differs."""
    match chosen(output):
        case "table":
            shown = record if people is None else people
            fields = {name: _cell(value, lines=name in LINES) for name, value in shown.items()}
            _write("\n".join(tables.one(fields)))
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


def _cell(value: Any, *, lines: bool = False) -> str:
    match value:
        case None:
            return ""
        case str():
            return value if lines else printable(value)
        case _:
            return json_text(value)


def _table(records: Sequence[Record], columns: Sequence[str], note: Note | None) -> None:
    cells = [[_cell(record.get(name)) for name in columns] for record in records]
    if note is None:
        _write("\n".join(tables.many(columns, cells)))
        return
    notes = [printable(note.of(record)) for record in records]
    _write("\n".join(tables.many(columns, cells, note.name, notes, whole=note.whole)))
