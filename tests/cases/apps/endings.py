"""An app whose handlers end in the oddest ways."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from threading import Lock
from typing import Any, NoReturn

from fencepost import Context, Fencepost

app = Fencepost()


class Speechless(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("no words")


class Leaving(Exception):
    """An error that wants to end the process when asked what it is."""

    def __str__(self) -> str:
        """Leave."""
        raise SystemExit(1)


class Clinging(Exception):
    """An error that cannot be pickled."""

    def __init__(self) -> None:
        """Hold what no other process can have."""
        super().__init__("holds a lock")
        self.lock = Lock()


class LeavingList(list[int]):
    """A list that wants to end the process when looked into."""

    def __iter__(self) -> Iterator[int]:
        """Leave."""
        raise SystemExit(1)


def deep(depth: int = 0) -> int:
    """Recurse without end."""
    return deep(depth + 1) + 1


def chain(links: int) -> Exception:
    """A chain of causes, one below the other."""
    error = ValueError("the first")
    for number in range(links):
        later = ValueError(f"number {number}")
        later.__cause__, error = error, later
    return error


def circle() -> list[Any]:
    """A list that contains itself."""
    found: list[Any] = []
    found.append(found)
    return found


def throw(error: BaseException) -> NoReturn:
    """Raise it."""
    raise error


ERRORS: dict[str, Callable[[], object]] = {
    "nul": lambda: throw(ValueError("a\x00b")),
    "surrogate": lambda: throw(ValueError("x\ud800")),
    "bytes": lambda: throw(ValueError(b"\xff\xfe")),
    "undecodable": lambda: throw(ValueError(b"caf\xe9".decode(errors="surrogateescape"))),
    "speechless": lambda: throw(Speechless()),
    "leaving": lambda: throw(Leaving()),
    "huge": lambda: throw(ValueError("x" * 50_000_000)),
    "recursion": deep,
    "exit": lambda: sys.exit("good bye"),
    "interrupt": lambda: throw(KeyboardInterrupt()),
    "cancelled": lambda: throw(asyncio.CancelledError()),
    "group": lambda: throw(ExceptionGroup("many", [ValueError(str(number)) for number in range(1_000)])),
    "base group": lambda: throw(BaseExceptionGroup("worse", [SystemExit(), KeyboardInterrupt()])),
    "unpicklable": lambda: throw(Clinging()),
    "generator exit": lambda: throw(GeneratorExit()),
    "chain": lambda: throw(chain(10_000)),
}
RESULTS: dict[str, Callable[[], object]] = {
    "set": lambda: {1},
    "decimal": lambda: Decimal("1.5"),
    "datetime": lambda: datetime.now(UTC),
    "nan": lambda: float("nan"),
    "bytes": lambda: b"x",
    "circle": circle,
    "nul": lambda: "\x00",
    "huge": lambda: "x" * 50_000_000,
    "leaving": lambda: LeavingList([1]),
}


@app.job
async def fail(ctx: Context, kind: str) -> None:
    """Raise something odd."""
    ERRORS[kind]()


@app.job
def fail_in_thread(ctx: Context, kind: str) -> None:
    """Raise it in a thread."""
    ERRORS[kind]()


@app.job
async def give(ctx: Context, kind: str) -> Any:
    """Return what is no JSON."""
    return RESULTS[kind]()


@app.job
def give_in_thread(ctx: Context, kind: str) -> Any:
    """Return it from a thread."""
    return RESULTS[kind]()


@app.job
async def echo(ctx: Context, n: int = 0, m: int = 0) -> dict[str, int]:
    """Return what came."""
    return {"n": n, "m": m}


@app.job
async def wait(ctx: Context) -> None:
    """Wait until stopped."""
    await asyncio.Event().wait()


@app.job
async def fail_once(ctx: Context) -> str:
    """Fail at first, succeed later."""
    if ctx.attempt == 1:
        raise ValueError("not yet")
    return "done"
