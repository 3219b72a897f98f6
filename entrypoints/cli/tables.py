"""Tables for people: ids, names and states are never cut, so a table that cannot be narrower than the screen is wider.

What is long gives way: ids of workers lose their middle, and a note that finds no room beside its row goes below it.
"""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len, chop_cells, set_cell_size

from .terminal import is_terminal, printable

GAP = "  "
UNWATCHED = 200
"""Columns of a table that goes into a file."""
SHRINKING = {"actor", "worker"}
SHRUNK_LEAST = 14
NOTE_LEAST = 24
INDENT = "    "
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.\d{6}Z", re.ASCII)


def many(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str | None = None,
    notes: Sequence[str] | None = None,
    *,
    whole: bool = False,
) -> Iterator[str]:
    """Yield the lines of a table; ``notes`` are a last column of free text, headed by ``note``.

    Those that find no room are cut, unless they are to be ``whole``.
    """
    width = _width()
    cells = [[moment(cell) for cell in row] for row in rows]
    sizes, room = _fitted(columns, cells, width)
    texts = notes or [""] * len(cells)
    beside = room if room >= min(NOTE_LEAST, max(map(cell_len, [note or "", *texts]))) else None
    heading = note if note and beside is not None else ""
    yield _joined(_line(columns, sizes), heading)
    yield _joined(GAP.join("─" * size for size in sizes), "─" * len(heading))
    for row, text in zip(cells, texts, strict=True):
        line = _line(row, sizes)
        if whole and cell_len(text) > (beside or 0):
            yield line.rstrip()
            yield from (INDENT + piece for piece in _wrapped(text, width - len(INDENT)))
        else:
            yield from _with_note(line, text, beside, width)


def one(fields: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of one record, a field a line: whole, however long."""
    size = max(map(cell_len, fields), default=0)
    room = max(_width() - size - len(GAP), NOTE_LEAST)
    for name, value in fields.items():
        for number, piece in enumerate(_pieces(moment(value), room)):
            yield f"{set_cell_size('' if number else name, size)}{GAP}{piece}".rstrip()


def _fitted(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> tuple[list[int], int]:
    """Return the columns' sizes, and the room that they leave for a note."""
    sizes = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    room = width - sum(sizes) - len(GAP) * (len(sizes) - 1)
    for place, name in enumerate(columns):
        if name in SHRINKING and room < 0:
            smaller = max(min(sizes[place], SHRUNK_LEAST), sizes[place] + room)
            room += sizes[place] - smaller
            sizes[place] = smaller
    return sizes, room - len(GAP)


def _with_note(line: str, text: str, beside: int | None, width: int) -> Iterator[str]:
    if beside is not None:
        yield _joined(line, _cut(text, beside))
        return
    yield line.rstrip()
    if text:
        yield INDENT + _cut(text, width - len(INDENT))


def _joined(line: str, text: str) -> str:
    return f"{line}{GAP}{text}".rstrip()


def _line(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return GAP.join(set_cell_size(_shrunk(cell, size), size) for cell, size in zip(cells, sizes, strict=True))


def _shrunk(text: str, size: int) -> str:
    """Leave out the middle: what tells two workers apart is at the end of their ids."""
    if cell_len(text) <= size:
        return text
    kept = size - 1
    return f"{text[: kept // 2]}…{text[-(kept - kept // 2) :]}"


def _cut(text: str, size: int) -> str:
    return text if cell_len(text) <= size else set_cell_size(text, size - 1).rstrip() + "…"


def _wrapped(text: str, size: int) -> list[str]:
    """Break text between words; only a word that is longer than a line is broken itself."""
    lines = textwrap.wrap(text, size, break_long_words=False, break_on_hyphens=False)
    return [piece for line in lines for piece in chop_cells(line, size)]


def _pieces(text: str, size: int) -> list[str]:
    return [piece for line in text.split("\n") for piece in chop_cells(printable(line), size) or [""]]


def moment(text: str) -> str:
    """Return a moment as every table shows it, in seconds and UTC; any other text as it is."""
    found = _MOMENT.fullmatch(text)
    return f"{found[1]}Z" if found else text


def _width() -> int:
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else UNWATCHED
