"""Schedules as people change them: created, edited, paused, deleted and made anew."""

from datetime import timedelta

from fencepost.domain.errors import ScheduleExists, ScheduleNotFound, VersionConflict
from fencepost.domain.firing import Outcome, Reason
from fencepost.domain.schedule import Missed, Overlap, Schedule
from fencepost.domain.vocabulary import ControlEventName, Verdict
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, definition
from support.time_plane import TimePlane

SECOND = timedelta(seconds=1)
ACCEPTED, ALREADY = Verdict.ACCEPTED, Verdict.ALREADY_APPLIED
LUNCH = "30 12 * * *"


async def _named(plane: TimePlane, name: ControlEventName) -> int:
    return sum(event.name is name for event in await plane.controls())


async def test_creating_the_same_schedule_again_changes_nothing(plane: TimePlane) -> None:
    """Later, after firings, the answer is the schedule as it is; there is one event."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    again = await plane.create()
    assert again == await plane.schedule()
    assert (again.version, again.created_at) == (1, MIDNIGHT)
    assert await _named(plane, ControlEventName.SCHEDULE_CREATED) == 1


async def test_another_definition_under_the_same_name_is_refused(plane: TimePlane) -> None:
    """And changes nothing."""
    before = await plane.create()
    other = definition(cron=LUNCH)
    error = await plane.lockstep.refused(lambda one: one.schedules.create("report", other, USER))
    assert error is ScheduleExists
    assert await plane.schedule() == before
    await plane.agree()


async def test_a_new_schedule_owes_nothing_for_the_time_before_it(plane: TimePlane) -> None:
    """Though it starts in the past; created at a fire time it fires at the next one."""
    plane.clock.advance(10 * MINUTE)
    schedule = await plane.create(starts_at=MIDNIGHT - timedelta(days=9))
    assert schedule.next_fire_at == MIDNIGHT + 15 * MINUTE
    await plane.fire()
    assert await plane.told() == []


async def test_an_edit_takes_effect_from_the_next_decision(plane: TimePlane) -> None:
    """Old slots that nobody decided are skipped as edited; the next one is computed from the new expression."""
    await plane.create()
    plane.clock.advance(12 * MINUTE)
    edited = await plane.edit(LUNCH)
    assert (edited.version, edited.next_fire_at) == (2, MIDNIGHT + 750 * MINUTE)
    assert await plane.told() == [(5, "skipped", "edited", 2)]
    await plane.fire(MINUTE)
    await plane.fire_until(MIDNIGHT + 750 * MINUTE)
    assert await plane.served() == [750]


async def test_an_edit_that_leaves_the_timing_alone_loses_nothing_that_is_due(plane: TimePlane) -> None:
    """It is decided by the new policies, and its jobs are of the new template: a deploy may end an outage."""
    await plane.create(missed=Missed.SKIP)
    plane.clock.advance(12 * MINUTE)
    edited = await plane.edit("*/5 * * * *", missed=Missed.ALL, payload='{"new":1}')
    assert (edited.version, edited.next_fire_at) == (2, MIDNIGHT + 5 * MINUTE)
    assert await plane.told() == []
    await plane.fire()
    assert await plane.told() == [(5, "fired", "missed", 1), (10, "fired", "missed", 1)]
    assert [job.payload for job in await plane.all_jobs()] == ['{"new":1}', '{"new":1}']


async def test_an_edit_keeps_what_was_decided(plane: TimePlane) -> None:
    """A firing that waits is inserted afterwards, from the template as it is then."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.round(5 * MINUTE)
    await plane.edit(LUNCH, overlap=Overlap.SKIP, payload='{"new":1}')
    await plane.end(token)
    await plane.release()
    assert [job.payload for job in await plane.all_jobs()] == ['{"a":1}', '{"new":1}']
    assert await plane.served() == [5, 10]


async def test_an_edit_of_an_older_version_is_refused(plane: TimePlane) -> None:
    """So is a deletion; the current version is accepted."""
    await plane.create()
    await plane.edit(LUNCH, version=1)
    stale = definition("0 0 * * *")
    for call in (
        lambda one: one.schedules.edit("report", stale, USER, version=1),
        lambda one: one.schedules.delete("report", USER, version=1),
    ):
        assert await plane.lockstep.refused(call) is VersionConflict
    await plane.agree()
    assert (await plane.schedule()).version == 2
    await plane.delete(version=2)


async def test_firings_do_not_count_as_changes(plane: TimePlane) -> None:
    """Who read a version can still edit it after the clock went on."""
    before = await plane.create()
    await plane.fire(5 * MINUTE)
    await plane.trigger("r-1")
    assert (await plane.schedule()).version == before.version
    await plane.edit(LUNCH, version=before.version)


async def test_an_edit_that_changes_nothing_is_none(plane: TimePlane) -> None:
    """The version stays, what is due fires, and nothing is told."""
    await plane.create()
    plane.clock.advance(5 * MINUTE)
    assert (await plane.edit("*/5 * * * *")).version == 1
    assert await _named(plane, ControlEventName.SCHEDULE_EDITED) == 0
    await plane.fire()
    assert await plane.served() == [5]


async def test_paused_time_is_not_missed_time(plane: TimePlane) -> None:
    """B064: after thirty days of pause the first firing is the next one, and no slot in between is anywhere."""
    await plane.create()
    assert await plane.pause() is ACCEPTED
    assert await plane.pause() is ALREADY
    await plane.round(timedelta(days=30) + MINUTE)
    assert await plane.resume() is ACCEPTED
    assert await plane.resume() is ALREADY
    await plane.fire()
    assert await plane.told() == []
    await plane.fire(4 * MINUTE)
    assert await plane.served() == [30 * 24 * 60 + 5]
    assert await _named(plane, ControlEventName.SCHEDULE_PAUSED) == 1
    assert await _named(plane, ControlEventName.SCHEDULE_RESUMED) == 1


async def test_what_was_due_before_a_pause_has_a_decision(plane: TimePlane) -> None:
    """Those slots were the active schedule's; nothing of it fires any more."""
    await plane.create()
    plane.clock.advance(11 * MINUTE)
    await plane.pause()
    await plane.round(MINUTE)
    assert await plane.told() == [(5, "skipped", "edited", 2)]
    assert await plane.all_jobs() == []


async def test_a_firing_that_waits_waits_for_the_resume_too(plane: TimePlane) -> None:
    """Nothing fires in a pause, though the job before has ended."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    await plane.pause()
    await plane.finish()
    await plane.round(MINUTE)
    assert await plane.served() == [5]
    await plane.resume()
    await plane.round(MINUTE)
    assert await plane.served() == [5, 10]


async def test_a_pause_is_told_with_its_reason(plane: TimePlane) -> None:
    """In the row until the resume, and in the log."""
    await plane.create()
    await plane.pause()
    paused = await plane.schedule()
    assert (paused.paused_at, paused.pause_reason, paused.next_fire_at) == (MIDNIGHT, USER.reason, None)
    await plane.resume()
    resumed = await plane.schedule()
    assert (resumed.paused_at, resumed.pause_reason, resumed.version) == (None, None, 3)


async def test_an_edit_does_not_end_a_pause(plane: TimePlane) -> None:
    """The new expression counts from the resume."""
    await plane.create()
    await plane.pause()
    await plane.edit("*/7 * * * *")
    await plane.round(20 * MINUTE)
    assert await plane.told() == []
    await plane.resume()
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + 21 * MINUTE


async def test_a_deleted_schedule_leaves_its_ledger(plane: TimePlane) -> None:
    """What was due is skipped as edited; its jobs go on."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    plane.clock.advance(6 * MINUTE)
    await plane.delete()
    assert await plane.told() == [(5, "fired", "due", 1), (10, "skipped", "edited", 1)]
    assert await plane.lockstep.both(lambda one: one.schedule_reader.get("report")) is None
    await plane.round(MINUTE)
    await plane.finish()
    assert len(await plane.all_jobs()) == 1


async def test_a_firing_that_waits_ends_with_its_schedule(plane: TimePlane) -> None:
    """The ledger says that it was skipped, and no job comes of it."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    await plane.delete()
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.finish()
    await plane.round(SECOND)
    last = (await plane.ledger())[-1]
    assert (last.outcome, last.reason, last.job_id) == (Outcome.SKIPPED, Reason.EDITED, None)
    assert await plane.served() == [5]


async def test_a_schedule_made_anew_fires_no_slot_again(plane: TimePlane) -> None:
    """B063: deleted and created within a fire time, it goes on with the next one."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    await plane.finish()
    await plane.delete()
    made: Schedule = await plane.create()
    assert made.version == 3
    await plane.round()
    await plane.round(5 * MINUTE)
    assert await plane.served() == [5, 10]


async def test_a_schedule_made_anew_knows_the_old_ones_jobs(plane: TimePlane) -> None:
    """What is unfinished of them stands in its way, but for what runs apart; how it ends is not its concern."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    await plane.backfill(5)
    await plane.advance()
    [token, _] = await plane.claim(2)
    await plane.delete()
    made_anew = await plane.create(pause_on_failure=True)
    assert made_anew.open_jobs == (token.job_id,)
    await plane.fire(5 * MINUTE)
    await plane.die(token)
    await plane.fire(5 * MINUTE)
    assert (await plane.told())[-2:] == [(10, "skipped", "overlap", 1), (15, "fired", "due", 1)]


async def test_skips_before_and_after_a_change_have_rows_of_their_own(plane: TimePlane) -> None:
    """A row never reaches over an edit, a pause, or the end of the schedule: what lies between was not decided."""
    late = 10 * MINUTE + 30 * SECOND
    await plane.create(missed=Missed.SKIP)
    await plane.fire(late)
    await plane.edit("*/5 * * * *", missed=Missed.SKIP, payload='{"b":2}')
    await plane.fire(late)
    await plane.pause()
    plane.clock.advance(late)
    await plane.resume()
    await plane.fire(late)
    for _ in range(2):
        await plane.delete()
        plane.clock.advance(late)
        await plane.create(missed=Missed.SKIP)
        await plane.fire(late)
    assert await plane.told() == [
        (5, "skipped", "missed", 2),
        (15, "skipped", "missed", 2),
        (35, "skipped", "missed", 2),
        (55, "skipped", "missed", 2),
        (75, "skipped", "missed", 2),
    ]


async def test_what_is_not_there_cannot_be_changed(plane: TimePlane) -> None:
    """Every change says so, and a read finds nothing."""
    wanted = definition()
    for call in (
        lambda one: one.schedules.edit("nobody", wanted, USER),
        lambda one: one.schedules.pause("nobody", USER),
        lambda one: one.schedules.resume("nobody", USER),
        lambda one: one.schedules.delete("nobody", USER),
    ):
        assert await plane.lockstep.refused(call) is ScheduleNotFound
    assert await plane.lockstep.both(lambda one: one.schedule_reader.get("nobody")) is None
    assert list(await plane.lockstep.both(lambda one: one.schedule_reader.firings("nobody"))) == []


async def test_a_dead_job_pauses_a_schedule_that_wants_that(plane: TimePlane) -> None:
    """Before its next firing, which is skipped; the log says which job; after a resume it goes on."""
    await plane.create(pause_on_failure=True)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.die(token)
    await plane.round(5 * MINUTE)
    paused = await plane.schedule()
    assert (paused.paused_at, paused.next_fire_at) == (MIDNIGHT + 10 * MINUTE, None)
    assert "1" in (paused.pause_reason or "")
    assert (await plane.told())[-1] == (10, "skipped", "edited", 1)
    await plane.resume()
    await plane.round(5 * MINUTE)
    assert await plane.served() == [5, 15]


async def test_a_dead_job_pauses_before_what_waits_for_it(plane: TimePlane) -> None:
    """The waiting firing gets its job after the resume."""
    await plane.create(pause_on_failure=True, overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.round(5 * MINUTE)
    await plane.die(token)
    await plane.round(MINUTE)
    assert (await plane.schedule()).paused_at == MIDNIGHT + 11 * MINUTE
    assert await plane.served() == [5]
    await plane.resume()
    await plane.round()
    assert await plane.served() == [5, 10]


async def test_other_endings_and_other_schedules_are_not_paused(plane: TimePlane) -> None:
    """A cancelled job is no failure; a dead one only where the schedule says so."""
    await plane.create("careful", pause_on_failure=True)
    await plane.create("bold")
    await plane.round(5 * MINUTE)
    careful, bold = [(await plane.ledger(name))[0].job_id or 0 for name in ("careful", "bold")]
    await plane.cancel(careful)
    [token] = await plane.claim()
    assert token.job_id == bold
    await plane.die(token)
    await plane.round(5 * MINUTE)
    assert await plane.served() == [5, 5, 10, 10]


async def test_lists_and_ledgers_are_read_page_by_page(plane: TimePlane) -> None:
    """Schedules by name, ledgers from the newest fire time back; each once."""
    for name in ("b", "a", "c"):
        await plane.create(name, overlap=Overlap.ALLOW)
    for _ in range(5):
        await plane.fire(5 * MINUTE)
    both = plane.lockstep.both
    first = await both(lambda one: one.schedule_reader.list(limit=2))
    rest = await both(lambda one: one.schedule_reader.list(after="b", limit=2))
    assert [schedule.name for schedule in (*first, *rest)] == ["a", "b", "c"]
    newest = await both(lambda one: one.schedule_reader.firings("a", limit=3))
    older = await both(lambda one: one.schedule_reader.firings("a", before=newest[-1].firing.fire_at))
    slots = [(row.firing.fire_at - MIDNIGHT) // MINUTE for row in (*newest, *older)]
    assert slots == [25, 20, 15, 10, 5]


async def test_a_page_of_the_ledger_holds_all_rows_of_a_fire_time(plane: TimePlane) -> None:
    """Or those beyond its limit would be on no page."""
    await plane.create(overlap=Overlap.ALLOW)
    plane.clock.advance(5 * MINUTE)
    for number in range(3):
        await plane.trigger(f"r-{number}")
    await plane.fire()
    await plane.fire(5 * MINUTE)
    page = await plane.lockstep.both(lambda one: one.schedule_reader.firings("report", limit=2))
    assert [(row.firing.fire_at - MIDNIGHT) // MINUTE for row in page] == [10, 5, 5, 5, 5]
    assert page[1].firing.origin == "cron"
