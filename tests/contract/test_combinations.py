"""Every situation meets every command: memory and PostgreSQL agree on verdict, row and event."""

import pytest

from fencepost.domain.transitions import RULES
from support.figures import Note
from support.meeting import Meeting
from support.situations import every_situation
from support.stores import Lockstep


@pytest.mark.timeout(300)
@pytest.mark.unproven("it sets idle_returns to what would take a thousand claims")
async def test_every_situation_meets_every_command(lockstep: Lockstep, note: Note) -> None:
    """All pairs of situation and command give the same verdict, row and event; every rule of the table is met."""
    await _meet(lockstep, note, thorough=False)


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.unproven("it sets idle_returns to what would take a thousand claims")
async def test_every_situation_meets_every_command_thoroughly(lockstep: Lockstep, note: Note) -> None:
    """The same with every past of a running job crossed with all that may happen to its lease."""
    await _meet(lockstep, note, thorough=True)


async def _meet(lockstep: Lockstep, note: Note, *, thorough: bool) -> None:
    meeting = Meeting(lockstep)
    for number, situation in enumerate(every_situation(thorough=thorough)):
        try:
            await meeting.hold(situation, number)
        except AssertionError as error:
            error.add_note(f"situation: {situation.name}")
            raise
    await lockstep.compare()
    unmet = [rule for number, rule in enumerate(RULES) if number not in meeting.met]
    assert unmet == []
    note(f"contract: {meeting.pairs:,} (state × command × guard) pairs, memory = {lockstep.postgres.name}")
