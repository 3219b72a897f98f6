"""Questions to a database, and waiting for an answer to become true."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg

PATIENCE = 900
"""Seconds after which nothing that is waited for will happen any more."""


Values = Sequence[Any] | Mapping[str, Any] | None


def ask(dsn: str, query: str, values: Values = None) -> Any:
    """Return the first column of a query's first row."""
    row = rows(dsn, query, values)
    return row[0][0] if row else None


def rows(dsn: str, query: str, values: Values = None) -> list[tuple[Any, ...]]:
    """Return all rows of a query; the values are psycopg's."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(query, values).fetchall()


def tell(dsn: str, *statements: str) -> None:
    """Run statements one by one, each in a transaction of its own."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def until(dsn: str, condition: str, *, alive: Callable[[], None] = lambda: None, every: float = 0.02) -> None:
    """Wait until a condition in SQL is true; ``alive`` raises when there is nobody left to make it so."""
    end = time.monotonic() + PATIENCE
    with psycopg.connect(dsn, autocommit=True) as connection:
        while not connection.execute(f"SELECT {condition}").fetchall()[0][0]:
            alive()
            if time.monotonic() > end:
                raise TimeoutError(f"still not true after {PATIENCE} s: {condition}")
            time.sleep(every)
