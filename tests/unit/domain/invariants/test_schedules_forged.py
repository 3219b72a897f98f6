"""What somebody plants in a schedule's history is found: in its ledger, its row, its events and its jobs."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve, frozen

from fencepost.domain.ledger_rows import LedgerRow
from fencepost.domain.schedule import Missed, Overlap, Slot
from fencepost.domain.vocabulary import ControlEventName as Name
from support.histories import broken
from support.ledgers import TimeStory, Told
from support.schedules import MIDNIGHT, MINUTE, NAME

SECOND = timedelta(seconds=1)


def _on_time() -> TimeStory:
    """Fired at 5, 10, 15 and 20 minutes past midnight, jobs 1 to 4."""
    story = TimeStory().create(overlap=Overlap.ALLOW)
    for _ in range(4):
        story.round(5)
    return story


def _outage() -> TimeStory:
    """Skipped from 5 to 60, fired at 65."""
    return TimeStory().create(missed=Missed.SKIP).round(61).round(4)


def _latest() -> TimeStory:
    """Coalesced from 5 to 55, fired at 60."""
    return TimeStory().create().round(61)


def _busy() -> TimeStory:
    """Fired at 5, skipped at 10 and 15 as that job is unfinished."""
    return TimeStory().create().round(5).round(5).round(5)


def _queued() -> TimeStory:
    """Fired at 5, queued at 10."""
    return TimeStory().create(overlap=Overlap.QUEUE_ONE).round(5).round(5)


def _paused() -> TimeStory:
    """Fired at 5, paused from 7 to 27, fired at 30."""
    return TimeStory().create(overlap=Overlap.ALLOW).round(5).after(2).pause().after(20).resume().round(3)


def _edited() -> TimeStory:
    """Fired at 5, skipped at 10 by an edit at 12, fired at 60."""
    return TimeStory().create().round(5).finish().after(7).edit("0 * * * *").round(48)


def _amended() -> TimeStory:
    """Fired at 5, edited at 17 but for its timing, and fired at 10 and 15 after that."""
    story = TimeStory().create(missed=Missed.SKIP).round(5).finish().after(12)
    return story.edit("*/5 * * * *", missed=Missed.ALL).round()


def _triggered() -> TimeStory:
    """Fired at 5 and, as somebody asked, at 6."""
    return TimeStory().create().round(5).after(1).trigger("one")


def _backfilled() -> TimeStory:
    """Fired at 20, and as somebody asked at 5, 10 and 15."""
    return TimeStory().create(overlap=Overlap.ALLOW).after(20).backfill("one", 1, 16).carry_out().round()


def _new(told: Told, index: int = 0, **fields: Any) -> None:
    """A row more, like another one."""
    told.ledger.append(evolve(told.ledger[index], **fields))


def _without(told: Told, index: int, *, job: bool = False) -> None:
    """A row less, with its job if wanted."""
    row = told.ledger.pop(index)
    if job and row.job_id is not None:
        del told.events[row.job_id], told.jobs[row.job_id]


def _swap_jobs(told: Told) -> None:
    one, other = told.ledger[0].job_id, told.ledger[1].job_id
    told.change(0, job_id=other)
    told.change(1, job_id=one)


def _copy_job(told: Told) -> None:
    """A second job of the first slot."""
    told.events[9] = [evolve(event, job_id=9, position=900 + event.seq) for event in told.events[1]]
    told.jobs[9] = evolve(told.jobs[1], job_id=9)


def _forge_job(told: Told, job_id: int = 1, **fields: Any) -> None:
    """An event that says something else, and a row of the job to fit."""
    event = told.events[job_id][0]
    told.events[job_id][0] = evolve(event, data={**event.data, **fields})
    if (key := fields.get("effect_key")) is not None:
        told.jobs[job_id] = evolve(told.jobs[job_id], effect_key=key)


def _policy(told: Told, **policy: Any) -> None:
    """Another policy, in the event and in the row."""
    definition = {**told.controls[0].data["definition"], **policy}
    told.change_event(0, definition=definition)
    told.change_row(definition=definition)


def _move_next(told: Told, minutes: float | None) -> None:
    told.change_row(next_fire_at=None if minutes is None else MIDNIGHT + minutes * MINUTE)


def _clear(told: Told) -> None:
    """The ledger of a schedule, as if nothing had been due yet."""
    told.ledger.clear()
    _move_next(told, 5)


def _fire_in_pause(told: Told) -> None:
    """The last firing was at a time when the schedule was paused, says the log's order."""
    told.controls[2] = evolve(told.controls[2], position=1_000)


def _birth_of(actor: str) -> Callable[[Told], None]:
    def forge(told: Told) -> None:
        told.events[1][0] = evolve(told.events[1][0], actor=actor)

    return forge


@frozen
class Forgery:
    """What is done to which story, and what that breaks."""

    story: Callable[[], TimeStory]
    plant: Callable[[Told], Any]
    breaks: str


AT = MIDNIGHT
FORGERIES: dict[str, Forgery] = {
    "a firing deleted": Forgery(_on_time, lambda t: _without(t, 1), "I28 I30"),
    "a firing deleted with its job": Forgery(_on_time, lambda t: _without(t, 1, job=True), "I28"),
    "a range deleted": Forgery(_outage, lambda t: _without(t, 0), "I28"),
    "the last row deleted": Forgery(_busy, lambda t: _without(t, 1), "I28"),
    "a ledger cleared": Forgery(_on_time, _clear, "I30"),
    "a skip deleted that an edit made": Forgery(_edited, lambda t: _without(t, 1), "I28"),
    "a slot again by an operation": Forgery(
        _on_time, lambda t: _new(t, origin="trigger:x", job_id=9), "I27 I30"
    ),
    "a slot again inside a range": Forgery(
        _outage, lambda t: _new(t, fire_at=AT + 10 * MINUTE, until=AT + 10 * MINUTE, count=1), "I28"
    ),
    "a slot that no expression gives": Forgery(
        _on_time, lambda t: _new(t, fire_at=AT + 7 * MINUTE, until=AT + 7 * MINUTE), "I27 I28 I30"
    ),
    "a slot moved": Forgery(
        _busy, lambda t: t.change(0, fire_at=AT + 301 * SECOND, until=AT + 301 * SECOND), "I28 I30"
    ),
    "a range that counts too few": Forgery(_outage, lambda t: t.change(0, count=11), "I28"),
    "a range that counts too many": Forgery(_outage, lambda t: t.change(0, count=13), "I28"),
    "a range cut short": Forgery(_outage, lambda t: t.change(0, until=AT + 55 * MINUTE), "I28"),
    "a range too long": Forgery(_latest, lambda t: t.change(0, until=AT + 60 * MINUTE), "I28"),
    "a range that ends after the calendar": Forgery(
        _outage, lambda t: t.change(0, until=AT.replace(year=9999)), "I28 I3"
    ),
    "a range of firings": Forgery(_on_time, lambda t: t.change(0, count=2, until=AT + 10 * MINUTE), "I28"),
    "a decision of an unknown kind": Forgery(_on_time, lambda t: t.change(0, outcome="lost"), "I28 I30"),
    "a firing without a job": Forgery(_on_time, lambda t: t.change(0, job_id=None), "I28 I30"),
    "a skip with a job": Forgery(_busy, lambda t: t.change(1, job_id=1), "I27 I28 I30"),
    "a firing called a skip": Forgery(
        _on_time, lambda t: t.change(0, outcome="skipped", reason="overlap"), "I28 I30"
    ),
    "a skip called coalesced": Forgery(_outage, lambda t: t.change(0, outcome="coalesced"), "I28"),
    "a coalesced one called a skip": Forgery(_latest, lambda t: t.change(0, outcome="skipped"), "I28"),
    "said to be missed": Forgery(_on_time, lambda t: t.change(0, reason="missed"), "I28"),
    "said to be on time": Forgery(_latest, lambda t: t.change(1, reason="due"), "I28"),
    "said to be outside of a window": Forgery(_busy, lambda t: t.change(1, reason="window"), "I28"),
    "a skip by an edit that nobody made": Forgery(_busy, lambda t: t.change(1, reason="edited"), "I28"),
    "an overlap that is allowed": Forgery(
        _on_time, lambda t: t.change(3, outcome="skipped", reason="overlap", job_id=None), "I28 I30"
    ),
    "a decision backdated": Forgery(_on_time, lambda t: t.change(0, decided_at=AT + 4 * MINUTE), "I28 I30"),
    "a skip decided before it was due": Forgery(_busy, lambda t: t.change(1, decided_at=AT), "I28"),
    "a decision in the future": Forgery(_busy, lambda t: t.change(1, decided_at=AT + 600 * MINUTE), "I3"),
    "a decision by a version to come": Forgery(_on_time, lambda t: t.change(0, version=2), "I28 I30"),
    "a decision by the version after": Forgery(_edited, lambda t: t.change(1, version=2), "I28"),
    "a decision in a pause": Forgery(
        _paused,
        lambda t: _new(
            t,
            fire_at=AT + 10 * MINUTE,
            until=AT + 10 * MINUTE,
            outcome="skipped",
            reason="overlap",
            version=2,
            job_id=None,
            decided_at=AT + 10 * MINUTE,
        ),
        "I28",
    ),
    "a firing in a pause": Forgery(_paused, _fire_in_pause, "I28 I30"),
    "two slots' jobs swapped": Forgery(_on_time, _swap_jobs, "I30"),
    "two rows with one job": Forgery(_on_time, lambda t: t.change(1, job_id=1), "I27 I30"),
    "a second job of a slot": Forgery(_on_time, _copy_job, "I30"),
    "a job that is lost": Forgery(_on_time, lambda t: (t.events.pop(2), t.jobs.pop(2)), "I30"),
    "a job of somebody else": Forgery(_on_time, _birth_of("user:ann"), "I30"),
    "a job of another schedule": Forgery(_on_time, _birth_of("schedule:other"), "I25 I30"),
    "an effect key of its own": Forgery(_on_time, lambda t: _forge_job(t, effect_key="mine"), "I30"),
    "a job of another template": Forgery(_on_time, lambda t: _forge_job(t, lease_us=1), "I7"),
    "a fire time that cannot be read": Forgery(_on_time, lambda t: _forge_job(t, scheduled_for="soon"), "I7"),
    "a fire time that is a number": Forgery(_on_time, lambda t: _forge_job(t, scheduled_for=5), "I7"),
    "two unfinished jobs by skip": Forgery(_on_time, lambda t: _policy(t, overlap="skip"), "I31"),
    "two unfinished jobs by queue_one": Forgery(_on_time, lambda t: _policy(t, overlap="queue_one"), "I31"),
    "two unfinished jobs by cancel_running": Forgery(
        _on_time, lambda t: _policy(t, overlap="cancel_running"), "I31"
    ),
    "next fire time moved back": Forgery(_on_time, lambda t: _move_next(t, 20), "I29"),
    "next fire time moved back into a range": Forgery(_busy, lambda t: _move_next(t, 15), "I29"),
    "next fire time moved on": Forgery(_on_time, lambda t: _move_next(t, 35), "I28"),
    "next fire time that no expression gives": Forgery(_on_time, lambda t: _move_next(t, 26), "I28 I29"),
    "no next fire time": Forgery(_on_time, lambda t: _move_next(t, None), "I29"),
    "a row that fires in its pause": Forgery(
        lambda: TimeStory().create().pause(), lambda t: _move_next(t, 5), "I29"
    ),
    "a row that is paused": Forgery(_on_time, lambda t: t.change_row(paused_at=AT), "I30"),
    "a row of another version": Forgery(_on_time, lambda t: t.change_row(version=2), "I30"),
    "a row of another definition": Forgery(_on_time, lambda t: t.change_row(definition={}), "I7"),
    "a row that is gone": Forgery(_busy, lambda t: t.rows.clear(), "I30"),
    "a row nobody made": Forgery(
        lambda: TimeStory().create("other"),
        lambda t: t.rows.update({NAME: evolve(t.rows["other"], name=NAME)}),
        "I30",
    ),
    "a queued one forgotten": Forgery(_queued, lambda t: t.change_row(waiting=None), "I30"),
    "a wait for nothing": Forgery(_on_time, lambda t: t.change_row(waiting=Slot(AT)), "I30"),
    "a trigger's row deleted": Forgery(_triggered, lambda t: _without(t, 1), "I30"),
    "a trigger's row moved": Forgery(_triggered, lambda t: t.change(1, fire_at=AT, until=AT), "I30"),
    "a trigger's decision changed": Forgery(
        _triggered, lambda t: t.change(1, outcome="skipped", reason="overlap", job_id=None), "I28 I30"
    ),
    "a trigger twice": Forgery(_triggered, lambda t: _new(t, 1, fire_at=AT, until=AT, job_id=9), "I27 I30"),
    "a backfill's row deleted": Forgery(_backfilled, lambda t: _without(t, 2, job=True), "I28 I30"),
    "a backfill's row moved": Forgery(_backfilled, lambda t: t.change(2, fire_at=AT, until=AT), "I28 I30"),
    "a backfill's row more": Forgery(
        _backfilled,
        lambda t: _new(t, 2, fire_at=AT + 20 * MINUTE, until=AT + 20 * MINUTE, job_id=9),
        "I28 I30",
    ),
    "a backfill's decision changed": Forgery(
        _backfilled, lambda t: t.change(2, outcome="skipped", reason="overlap", job_id=None), "I28 I30"
    ),
    "a backfill nobody asked for": Forgery(_backfilled, lambda t: t.controls.pop(1), "I27"),
    "a backfill that says less": Forgery(_backfilled, lambda t: t.change_event(2, decided=2), "I30"),
    "two unfinished jobs of a backfill by skip": Forgery(
        _backfilled, lambda t: t.change_event(1, overlap="skip"), "I31"
    ),
    "a change by nobody": Forgery(
        _paused, lambda t: t.controls.append(evolve(t.controls.pop(), request_id=None)), "I38"
    ),
    "a change removed": Forgery(_paused, lambda t: t.controls.pop(2), "I28 I29 I30"),
    "a birth removed": Forgery(_busy, lambda t: t.controls.pop(0), "I25 I28 I30"),
    "another expression": Forgery(_busy, lambda t: _policy(t, cron="*/10 * * * *"), "I28 I29"),
    "a change that lies about what is next": Forgery(
        _edited, lambda t: t.change_event(1, next_fire_at="2030-01-01T05:00:00.000000Z"), "I29"
    ),
    "an edit that passes over what is due": Forgery(
        _amended, lambda t: t.change_event(1, next_fire_at="2030-01-01T00:20:00.000000Z"), "I28"
    ),
    "an edit that fires when nothing is due": Forgery(
        _amended, lambda t: t.change_event(1, next_fire_at="2030-01-01T00:11:00.000000Z"), "I28 I29"
    ),
    "a pause that fires": Forgery(
        _paused, lambda t: t.change_event(1, next_fire_at="2030-01-01T05:00:00.000000Z"), "I29"
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_what_is_planted_is_found(forgery: Forgery) -> None:
    """By the invariants that it breaks, and by no other."""
    told = forgery.story().told()
    assert told.judged().violations == ()
    forgery.plant(told)
    assert broken(told.judged()) == set(forgery.breaks.split())


def test_a_ledger_cleared_of_skips_is_an_alert_at_least() -> None:
    """Nothing but time tells of them once the schedule's row was set back, too: they wait for decisions again."""
    told = TimeStory().create(missed=Missed.SKIP).round(61).told()
    _clear(told)
    assert [alert.invariant for alert in told.judged().alerts] == ["I28"]


def test_a_row_says_what_is_wrong_with_it() -> None:
    """People read the first line of a finding."""
    told = _outage().told()
    told.change(0, count=13)
    [violation] = told.judged().violations
    assert violation.what == (
        f"schedule {NAME}: fire time 2030-01-01 00:05:00+00:00 was skipped (missed) for 13 fire times to "
        "2030-01-01 01:00:00+00:00, there are 12 to 2030-01-01 01:00:00+00:00"
    )


def test_many_missing_decisions_are_one_finding() -> None:
    """However many there are."""
    told = TimeStory().create(cron="every 1s", missed=Missed.SKIP).round(600).told()
    told.ledger.clear()
    [violation, _] = told.judged().violations
    assert violation.what.endswith("has no decision, nor have 9999 after it")


def test_changes_that_do_not_follow_each_other_are_told_with_their_position() -> None:
    """The log is where to look."""
    told = TimeStory().create().pause().resume().told()
    told.controls[2] = evolve(
        told.controls[2], name=Name.SCHEDULE_PAUSED, data={"version": 3, "next_fire_at": None}
    )
    found = {(one.invariant, one.position) for one in told.judged().violations}
    assert ("I29", told.controls[2].position) in found


@pytest.mark.parametrize("definition", [{"cron": "* * * * *"}, None, 7])
def test_a_definition_that_cannot_be_read_leaves_all_open(definition: object) -> None:
    """Nothing can be computed from it; whoever forged it is not hidden, and no other schedule suffers."""
    told = _busy().told()
    told.change_event(0, definition=definition)
    report = told.judged()
    assert broken(report) == set()
    assert {one.invariant for one in report.unverifiable} == {"I28"}
    assert report.unverifiable[-1].what.endswith("the definition of version 1 cannot be read")


def test_a_ledger_without_a_schedule_is_found() -> None:
    """No event tells of it."""
    told = Told(AT + 60 * MINUTE)
    told.ledger.append(_stray())
    assert broken(told.judged()) == {"I28"}


def _stray() -> LedgerRow:
    return LedgerRow(
        schedule=NAME,
        fire_at=AT,
        origin="cron",
        outcome="skipped",
        reason="overlap",
        until=AT,
        count=1,
        job_id=None,
        version=1,
        tz_version="2026a",
        decided_at=AT,
    )
