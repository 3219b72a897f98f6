"""Random lives of schedules: memory and PostgreSQL never part, and every fire time has its one decision."""

import asyncio

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from support.figures import Note
from support.proof import problems_of
from support.schedule_lives import ScheduleLife
from support.schedules import MIDNIGHT
from support.stores import Clock, Lockstep, memory_stores, postgres_stores
from support.time_plane import TimePlane
from support.wiping import wipe


@pytest.mark.timeout(300)
def test_random_schedules_are_the_same_in_memory_and_postgresql(
    clocked: str, clock: Clock, note: Note
) -> None:
    """After every step jobs, events, schedules and ledgers agree; no slot is decided twice or left out."""
    _live(clocked, clock, note, lives=12, steps=40)


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_many_random_schedules_are_the_same_in_memory_and_postgresql(
    clocked: str, clock: Clock, note: Note
) -> None:
    """The same over many more and longer lives."""
    _live(clocked, clock, note, lives=400, steps=80)


def _live(dsn: str, clock: Clock, note: Note, *, lives: int, steps: int) -> None:
    chosen = settings(
        max_examples=lives,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    with asyncio.Runner() as runner:
        stores = postgres_stores(dsn, clock)
        postgres = runner.run(stores.__aenter__())

        def begin() -> ScheduleLife:
            wipe(dsn)
            clock.now = MIDNIGHT
            plane = TimePlane(Lockstep(memory_stores(clock), postgres, clock))
            return ScheduleLife(plane, runner.run, lambda: problems_of(dsn, clock))

        try:
            run_state_machine_as_test(begin, settings=chosen)  # type: ignore[arg-type]  # a factory will do
        finally:
            runner.run(stores.__aexit__(None, None, None))
    note(f"contract: {lives} random lives of schedules, {steps} steps each, memory = {postgres.name}")
