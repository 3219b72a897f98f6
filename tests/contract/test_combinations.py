"""Every situation meets every command: memory and PostgreSQL agree on verdict, row and event."""

from collections.abc import Iterable
from itertools import filterfalse

import pytest

from fencepost.domain.conditions import Condition
from fencepost.domain.transitions import RULES, Rule
from support.figures import Note
from support.meeting import Meeting
from support.situations import Situation, every_situation, lived
from support.stores import Lockstep

SHORTCUT = "it sets idle_returns to what would take a thousand claims"


@pytest.mark.timeout(300)
async def test_every_situation_meets_every_command(lockstep: Lockstep, note: Note) -> None:
    """All pairs of situation and command give the same verdict, row and event; every rule of the table is met."""
    await _meet(lockstep, note, filter(lived, every_situation(thorough=False)), capped=False)


@pytest.mark.timeout(300)
@pytest.mark.unproven(SHORTCUT)
async def test_every_command_is_met_at_the_cap_of_idle_returns(lockstep: Lockstep, note: Note) -> None:
    """The same for jobs that were handed back a thousand times, or once less."""
    await _meet(lockstep, note, filterfalse(lived, every_situation(thorough=False)), capped=True)


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.unproven(SHORTCUT)
async def test_every_situation_meets_every_command_thoroughly(lockstep: Lockstep, note: Note) -> None:
    """The same with every past of a running job crossed with all that may happen to its lease."""
    await _meet(lockstep, note, every_situation(thorough=True), capped=None)


async def _meet(
    lockstep: Lockstep, note: Note, situations: Iterable[Situation], *, capped: bool | None
) -> None:
    """Hold all meetings; ``capped`` tells whether rules at the cap of idle returns, others, or all must be met."""
    meeting = Meeting(lockstep)
    for number, situation in enumerate(situations):
        try:
            await meeting.hold(situation, number)
        except AssertionError as error:
            error.add_note(f"situation: {situation.name}")
            raise
    await lockstep.compare()
    wanted = [number for number, rule in enumerate(RULES) if capped in {None, _at_cap(rule)}]
    assert [RULES[number] for number in wanted if number not in meeting.met] == []
    note(f"contract: {meeting.pairs:,} (state × command × guard) pairs, memory = {lockstep.postgres.name}")


def _at_cap(rule: Rule) -> bool:
    return rule.when.get(Condition.IDLE_CAPPED, False)
