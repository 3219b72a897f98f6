"""What schedules really do raises no alarm, whatever happens to them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from attrs import evolve

from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.domain.commands import Requeue
from fencepost.domain.invariants import ClockStep
from fencepost.domain.limits import DECISION_GRACE
from fencepost.domain.schedule import Missed, Overlap
from fencepost.domain.vocabulary import ControlEventName as Name
from support.histories import control
from support.ledgers import TimeStory, at_once
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME

STORIES: dict[str, Callable[[], TimeStory]] = {
    "nothing due": lambda: TimeStory().create(),
    "on time": lambda: TimeStory().create(overlap=Overlap.ALLOW).round(5).round(5).round(5),
    "all of an outage": lambda: TimeStory().create(missed=Missed.ALL).round(361),
    "more than one batch": lambda: TimeStory().create("many", missed=Missed.ALL).round(5 * 250 + 1),
    "latest of an outage": lambda: TimeStory().create().round(361),
    "none of an outage": lambda: TimeStory().create(missed=Missed.SKIP).round(361).round(4).round(61),
    "a window": lambda: TimeStory().create(catchup_window=timedelta(minutes=12)).round(61),
    "overlaps skipped": lambda: TimeStory().create().round(5).round(5).round(5).finish().round(5),
    "one queued": lambda: TimeStory().create(overlap=Overlap.QUEUE_ONE).round(5).round(5).round(5),
    "one queued and released": lambda: (
        TimeStory().create(overlap=Overlap.QUEUE_ONE).round(5).round(5).finish().round(1).finish().round(5)
    ),
    "one cancelled": lambda: TimeStory().create(overlap=Overlap.CANCEL_RUNNING).round(5).round(5).round(5),
    "paused and resumed": lambda: TimeStory().create().round(5).after(12).pause().after(60).resume().round(9),
    "edited": lambda: TimeStory().create().round(5).after(7).edit("0 * * * *").round(60),
    "edited but for its timing": lambda: (
        TimeStory()
        .create(missed=Missed.SKIP)
        .round(5)
        .finish()
        .after(11)
        .edit("*/5 * * * *", missed=Missed.ALL)
        .edit("*/5 * * * *", missed=Missed.ALL, priority=1)
        .round()
        .after(11)
        .edit("0 * * * *")
        .round(60)
    ),
    "edited while paused": lambda: (
        TimeStory().create().pause().after(9).edit("0 * * * *").after(9).resume().round(60)
    ),
    "paused after a failure": lambda: (
        TimeStory()
        .create(pause_on_failure=True)
        .round(5)
        .finish(dead=True)
        .round(5)
        .after(9)
        .resume()
        .round(5)
    ),
    "deleted": lambda: TimeStory().create().round(5).after(7).delete().after(30),
    "deleted while one waits": lambda: (
        TimeStory().create(overlap=Overlap.QUEUE_ONE).round(5).round(5).delete()
    ),
    "made anew": lambda: TimeStory().create().round(5).delete().after(7).create(cron="0 * * * *").round(60),
    "over": lambda: TimeStory().create(ends_at=MIDNIGHT + 12 * MINUTE).round(5).finish().round(60),
    "never": lambda: TimeStory().create(ends_at=MIDNIGHT + 12 * MINUTE).after(60).delete(),
    "triggered": lambda: TimeStory().create().trigger("one").after(1).trigger("two").round(5),
    "triggered while paused": lambda: TimeStory().create().pause().trigger("one").after(20),
    "triggered by skip": lambda: TimeStory().create().round(5).after(1).trigger("one", Overlap.SKIP),
    "triggered in a queue": lambda: (
        TimeStory().create().round(5).after(1).trigger("one", Overlap.QUEUE_ONE).finish().round()
    ),
    "backfilled": lambda: TimeStory().create().round(61).backfill("one", 12, 47).carry_out().round(4),
    "backfilled in batches": lambda: (
        TimeStory().create().after(400).backfill("one", 0, 400, priority=9).round().carry_out(7)
    ),
    "backfilled by skip": lambda: (
        TimeStory().create().after(61).backfill("one", 12, 47, overlap=Overlap.SKIP).carry_out().round()
    ),
    "backfilled one by one": lambda: (
        TimeStory()
        .create()
        .after(14)
        .backfill("one", 0, 14, overlap=Overlap.QUEUE_ONE)
        .carry_out()
        .finish()
        .carry_out()
        .round(1)
    ),
    "backfilled half and deleted": lambda: (
        TimeStory().create().after(14).backfill("one", 0, 14, overlap=Overlap.QUEUE_ONE).carry_out().delete()
    ),
    "backfilled with nothing": lambda: (
        TimeStory().create().after(14).backfill("one", 11, 12).carry_out().round()
    ),
    "backfilled by an older definition": lambda: (
        TimeStory().create().after(14).backfill("one", 0, 14).edit("0 * * * *").carry_out().round(60)
    ),
    "an interval": lambda: TimeStory().create(cron="every 90s", missed=Missed.SKIP).round(61).round(3),
    "another zone": lambda: TimeStory().create(cron="30 * * * *", tz="Asia/Kolkata").round(61).round(60),
    "two schedules": lambda: TimeStory().create().create("other", cron="*/7 * * * *").round(5).round(60),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_an_honest_history_of_schedules_is_clean(story: Callable[[], TimeStory]) -> None:
    """No violation, no alert, and nothing left open."""
    report = story().told().judged()
    assert report.violations == ()
    assert (report.alerts, report.unverifiable, report.clock_steps) == ((), (), ())
    assert report.schedules >= 1


def test_decisions_ahead_of_a_change_are_a_clock_step() -> None:
    """The clock stood an hour ahead when they were made; every slot has one decision all the same."""
    story = TimeStory().create(missed=Missed.SKIP).round(64).after(-30)
    story.edit("*/10 * * * *", missed=Missed.SKIP).round(60).delete().after(-20).create().round(60)
    report = story.after(60).round().told().judged()
    assert report.violations == ()
    assert [step.schedule for step in report.clock_steps] == [NAME] * len(report.clock_steps)
    assert ClockStep(None, None, 30 * MINUTE, NAME) in report.clock_steps


def test_a_schedule_that_is_over_stays_so_when_the_clock_steps_back() -> None:
    """Whoever edits something else of it then brings no fire time back."""
    over = TimeStory().create(ends_at=MIDNIGHT + 12 * MINUTE).round(5).round(5).round(5).after(-6)
    story = over.edit("*/5 * * * *", ends_at=MIDNIGHT + 12 * MINUTE, priority=1).round(60)
    assert story.told().judged().violations == ()


def test_a_schedule_may_have_to_catch_up_with_its_own_ledger() -> None:
    """After a step back and an edit its next fire time lies before rows that are there."""
    story = TimeStory().create(cron="* * * * *", overlap=Overlap.ALLOW).round(1).round(1).after(-6)
    told = story.edit("every 90s", overlap=Overlap.ALLOW).told()
    assert told.rows[NAME].next_fire_at == MIDNIGHT
    told.clock += 6 * MINUTE
    assert told.judged().violations == ()


def test_a_fire_time_that_waits_is_an_alert() -> None:
    """After a grace: until then a scheduler may be at it."""
    told = TimeStory().create().after(5).told()
    told.clock += DECISION_GRACE - timedelta(microseconds=1)
    assert told.judged().alerts == ()
    told.clock += timedelta(microseconds=1)
    report = told.judged()
    assert report.clean
    [alert] = report.alerts
    assert alert.what == f"schedule {NAME}: fire time 2030-01-01 00:05:00+00:00 has no decision"


def test_a_paused_schedule_is_never_late() -> None:
    """Nothing is due."""
    told = TimeStory().create().pause().after(60).told()
    assert told.judged().alerts == ()


def test_pruned_jobs_are_missed_by_nobody() -> None:
    """The ledger outlives them; a tombstone says where they are."""
    told = TimeStory().create(overlap=Overlap.ALLOW).round(5).round(5).finish().told()
    del told.jobs[1], told.events[1]
    told.controls.append(control(Name.JOBS_PRUNED, "jobs", 1_000, data={"job_ids": [1]}))
    assert told.judged().violations == ()


def test_another_tz_database_leaves_differences_open() -> None:
    """A fire time that another version gave is no violation where clocks are turned, and one in UTC."""
    for tz, found in (("Europe/Oslo", "unverifiable"), ("UTC", "violations")):
        told = TimeStory().create(cron="0 * * * *", overlap=Overlap.ALLOW, tz=tz).round(60).round(60).told()
        told.ledger = [evolve(row, tz_version="1999a") for row in told.ledger]
        assert told.judged().clean
        del told.ledger[0], told.jobs[1], told.events[1]
        report = told.judged()
        [other] = {"unverifiable", "violations"} - {found}
        assert [one.invariant for one in getattr(report, found)] == ["I28"]
        assert getattr(report, other) == ()


def test_a_requeued_job_stands_in_nobodys_way() -> None:
    """Its second life is an operator's doing, though by skip no other may be unfinished."""
    story = TimeStory().create().round(5).finish().round(5).finish()
    again = Requeue(origin=USER, fresh_effect_key=False)
    at_once(MemoryJobStore(story.database).operate([1], again))
    assert story.round(5).told().judged().violations == ()
    assert len(story.told().jobs) == 3
