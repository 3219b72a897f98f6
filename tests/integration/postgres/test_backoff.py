"""The wait before a retry, computed by PostgreSQL."""

import json
import random
from datetime import timedelta

import psycopg

from fencepost.adapters.postgres.backoff import backoff as backoff_sql
from fencepost.domain.limits import DURATION_MAX, MAX_ATTEMPTS_LIMIT
from fencepost.domain.retry import Constant, Delays, Exponential, RetryPolicy, backoff, describe
from support.figures import Note

LONGEST = DURATION_MAX // timedelta(microseconds=1)
SEED = 20_301
CASES = 20_000


def wait(dice: random.Random) -> timedelta:
    """Any duration, short ones as likely as long ones."""
    return timedelta(microseconds=min(LONGEST, max(1, int(2 ** dice.uniform(0, 52)))))


def policy(dice: random.Random) -> RetryPolicy:
    """Any policy."""
    match dice.randrange(3):
        case 0:
            return Exponential(wait(dice), wait(dice))
        case 1:
            return Constant(wait(dice))
        case _:
            return Delays(tuple(wait(dice) for _ in range(dice.randint(1, 100))))


def test_postgresql_computes_the_very_same_wait(server: str, note: Note) -> None:
    """B127: To the microsecond, for any policy, any number of failures and any draw."""
    dice = random.Random(SEED)
    cases = [
        (policy(dice), min(MAX_ATTEMPTS_LIMIT, int(2 ** dice.uniform(0, 15))) - 1, dice.random())
        for _ in range(CASES)
    ]
    statement = f"""
        SELECT {backoff_sql("h", "h.draw")}
        FROM unnest(%s::jsonb[], %s::integer[], %s::float8[]) WITH ORDINALITY AS h (retry, failures, draw, n) ORDER BY n
    """
    policies = [json.dumps(describe(policy)) for policy, _, _ in cases]
    with psycopg.connect(server) as connection:
        found = connection.execute(
            statement.encode(),
            [policies, [failures for _, failures, _ in cases], [draw for *_, draw in cases]],
        ).fetchall()
    assert [row[0] for row in found] == [
        backoff(policy, failures + 1, draw) for policy, failures, draw in cases
    ]
    note(f"{CASES:,} backoffs are the same in PostgreSQL and in Python (seed {SEED})")


def test_a_policy_of_a_newer_version_does_not_stop_the_batch(server: str) -> None:
    """What cannot be read waits like the default at its longest, instead of failing everybody's statement."""
    one = "(SELECT %s::jsonb, 3, 0.5::float8) AS h (retry, failures, draw)"
    statement = f"SELECT {backoff_sql('h', 'h.draw')} FROM {one}"
    with psycopg.connect(server) as connection:
        for unknown in ('{"policy": "fibonacci", "base_us": 5}', '{"policy": "constant"}', "{}"):
            assert connection.execute(statement.encode(), [unknown]).fetchall() == [(timedelta(seconds=450),)]
