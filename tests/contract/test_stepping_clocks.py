"""A database clock that steps: no slot fires twice, none is left without a decision."""

from datetime import timedelta

from fencepost.domain.schedule import Missed, Overlap
from support.schedules import MIDNIGHT, MINUTE
from support.time_plane import TimePlane

HOUR = timedelta(hours=1)


async def _ended(plane: TimePlane) -> None:
    """Let the clock be right again at the end, so that no event is later than whoever verifies."""
    plane.clock.now = MIDNIGHT + timedelta(days=1)


async def test_a_step_back_decides_nothing_again(plane: TimePlane) -> None:
    """The next fire time stays where it was until the clock has come there once more."""
    await plane.create(overlap=Overlap.ALLOW)
    await plane.fire_until(MIDNIGHT + 2 * HOUR)
    rows, jobs = await plane.ledger(), await plane.all_jobs()
    await plane.fire(-HOUR)
    for _ in range(12):
        await plane.round(5 * MINUTE)
        assert (await plane.schedule()).next_fire_at == MIDNIGHT + 2 * HOUR + 5 * MINUTE
    assert (await plane.ledger(), await plane.all_jobs()) == (rows, jobs)
    await plane.round(5 * MINUTE)
    assert (await plane.told())[-1] == (125, "fired", "due", 1)
    await _ended(plane)


async def test_a_step_forward_is_an_outage(plane: TimePlane) -> None:
    """What lies in between was missed; it does not come again when the clock is set right."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire_until(MIDNIGHT + HOUR)
    assert await plane.told() == [(5, "skipped", "missed", 11), (60, "fired", "due", 1)]
    await plane.fire(-HOUR)
    for _ in range(13):
        await plane.finish()
        await plane.round(5 * MINUTE)
    assert await plane.told() == [
        (5, "skipped", "missed", 11),
        (60, "fired", "due", 1),
        (65, "fired", "due", 1),
    ]


async def test_a_slot_in_the_ledger_never_fires_again(plane: TimePlane) -> None:
    """Deleted and made anew an hour earlier, the schedule comes to slots that were decided, alone and in ranges."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire_until(MIDNIGHT + 32 * MINUTE)
    await plane.fire_until(MIDNIGHT + 35 * MINUTE)
    await plane.finish()
    before = await plane.told()
    assert before == [(5, "skipped", "missed", 6), (35, "fired", "due", 1)]
    await plane.delete()
    plane.clock.now = MIDNIGHT
    await plane.create(overlap=Overlap.ALLOW)
    for _ in range(8):
        await plane.round(5 * MINUTE)
    assert await plane.told() == [*before, (40, "fired", "due", 1)]
    assert await plane.served() == [35, 40]
    await _ended(plane)


async def test_an_edit_after_a_step_back_fires_no_slot_again(plane: TimePlane) -> None:
    """Its next fire time is the new expression's, though that was decided already; so is a resume's."""
    await plane.create(overlap=Overlap.ALLOW)
    for _ in range(12):
        await plane.fire(5 * MINUTE)
    plane.clock.advance(-HOUR)
    await plane.edit("*/10 * * * *", overlap=Overlap.ALLOW)
    await plane.fire(30 * MINUTE)
    await plane.pause()
    await plane.resume()
    for _ in range(5):
        await plane.fire(10 * MINUTE)
    assert await plane.served() == [*range(5, 65, 5), 70, 80]
    assert [row[0] for row in await plane.told()] == [*range(5, 65, 5), 70, 80]


async def test_a_range_of_slots_decided_before_is_not_counted_again(plane: TimePlane) -> None:
    """Half of what is missed now was skipped before the clock stepped back; the other half joins."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire_until(MIDNIGHT + 33 * MINUTE)
    plane.clock.now = MIDNIGHT
    await plane.edit("*/5 * * * *", missed=Missed.SKIP, payload='{"b":2}')
    await plane.fire_until(MIDNIGHT + 63 * MINUTE)
    rows = await plane.ledger()
    assert sum(row.count for row in rows) == 12
    assert (rows[0].fire_at, rows[-1].last) == (MIDNIGHT + 5 * MINUTE, MIDNIGHT + HOUR)
    assert await plane.all_jobs() == []


async def test_a_schedule_made_anew_grows_no_row_of_the_old_one(plane: TimePlane) -> None:
    """Though it was created earlier, as the clock has it, than the last decision: no version of a name comes back."""
    await plane.create(cron="*/10 * * * *", missed=Missed.SKIP)
    await plane.fire_until(MIDNIGHT + 33 * MINUTE)
    plane.clock.now = MIDNIGHT + 5 * MINUTE
    await plane.delete()
    await plane.create(missed=Missed.SKIP)
    await plane.fire_until(MIDNIGHT + 63 * MINUTE)
    assert await plane.told() == [(10, "skipped", "missed", 3), (35, "skipped", "missed", 6)]


async def test_a_queued_firing_outlives_a_step(plane: TimePlane) -> None:
    """It waits for a job, not for the clock."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.round(5 * MINUTE)
    await plane.round(-HOUR)
    await plane.end(token)
    await plane.release()
    assert await plane.served() == [5, 10]
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + 15 * MINUTE
    await _ended(plane)
