"""The service that every surface stands on: what is wrong is refused before anything is written."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve

from fencepost.application.ports.schedule_store import LedgerFilter
from fencepost.application.scheduling import Scheduling
from fencepost.domain.commands import Origin
from fencepost.domain.errors import InvalidInput, ScheduleExists, ScheduleNotFound, VersionConflict
from fencepost.domain.firing import Outcome
from fencepost.domain.schedule import Definition, Missed, Overlap, Schedule
from fencepost.domain.vocabulary import Verdict
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, asked, definition, plane_over
from support.stores import Clock


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


@pytest.fixture
def service(plane: Plane) -> Scheduling:
    """The service over it."""
    return Scheduling(plane.schedules, plane.firings, plane.schedules)


def open_start(cron: str = "*/5 * * * *", **fields: Any) -> Definition:
    """A definition that leaves open where it starts."""
    return definition(cron, starts_at=None, **fields)


async def test_a_schedule_starts_when_it_is_created(service: Scheduling, plane: Plane) -> None:
    """An interval is counted from there, and what is stored always says when."""
    plane.clock.advance(7 * MINUTE)
    created = (await service.create(NAME, open_start("every 90m"), USER)).schedule
    assert created.definition.timing.starts_at == MIDNIGHT + 7 * MINUTE
    assert created.next_fire_at == MIDNIGHT + 97 * MINUTE
    assert await service.get(NAME) == created


async def test_creating_a_schedule_again_later_changes_nothing(service: Scheduling, plane: Plane) -> None:
    """Nor does another way of writing the same: a program declares its schedules at each of its starts."""
    first = await service.create(NAME, open_start("0 5 * * mon", payload='{"a": 1}'), USER)
    plane.clock.advance(timedelta(days=3))
    again = await service.create(NAME, open_start(" 00  05 * * MON", payload='{"a":1}'), USER)
    assert (first.is_new, again.is_new) == (True, False)
    assert again.schedule == first.schedule
    with pytest.raises(ScheduleExists):
        await service.create(NAME, definition("0 5 * * MON", starts_at=MIDNIGHT + MINUTE), USER)


async def test_many_who_create_the_same_schedule_at_once_get_the_same(service: Scheduling) -> None:
    """One of them creates it."""
    made = await asyncio.gather(*(service.create(NAME, open_start(), USER) for _ in range(8)))
    assert [one.schedule for one in made] == [made[0].schedule] * 8
    assert [one.is_new for one in made].count(True) == 1


async def test_a_schedule_that_is_over_may_be_created_again(service: Scheduling, plane: Plane) -> None:
    """The program that declares it need not know that its end has come."""
    wanted = open_start(ends_at=MIDNIGHT + 10 * MINUTE)
    first = await service.create(NAME, wanted, USER)
    plane.clock.advance(timedelta(days=1))
    again = await service.create(NAME, wanted, USER)
    assert again.schedule.definition == first.schedule.definition


async def test_an_end_before_the_creation_is_refused(service: Scheduling, plane: Plane) -> None:
    """Nothing would ever fire, and nobody would notice."""
    plane.clock.advance(timedelta(days=1))
    with pytest.raises(InvalidInput, match="ends_at: must be later than now, "):
        await service.create(NAME, open_start(ends_at=MIDNIGHT + MINUTE), USER)
    assert await service.list() == []


async def test_an_edit_keeps_the_start_that_it_does_not_name(service: Scheduling, plane: Plane) -> None:
    """And to what there is already it changes nothing, however it is written."""
    await service.create(NAME, open_start("every 90m"), USER)
    plane.clock.advance(MINUTE)
    same = await service.edit(NAME, open_start("every 1h30m"), USER)
    assert (same.version, same.definition.timing.starts_at) == (1, MIDNIGHT)
    edited = await service.edit(NAME, open_start("every 1h"), USER)
    assert (edited.version, edited.next_fire_at) == (2, MIDNIGHT + 60 * MINUTE)


async def test_an_edit_of_a_running_schedule_to_what_it_is_decides_nothing(
    service: Scheduling, plane: Plane
) -> None:
    """What is due stays due, and fires."""
    await service.create(NAME, open_start(), USER)
    plane.clock.advance(5 * MINUTE)
    await service.edit(NAME, open_start(), USER)
    await plane.fire()
    assert await plane.told() == [(5, "fired", "due", 1)]


async def test_only_what_is_amended_changes(service: Scheduling) -> None:
    """All else is what is there when it is written."""
    await service.create(NAME, open_start(queue="mail", missed=Missed.SKIP), USER)
    amended = await service.amend(NAME, in_zone("Europe/Oslo"), USER)
    assert amended.definition.timing.tz == "Europe/Oslo"
    assert amended.definition.template.queue == "mail"
    assert amended.definition.policies.missed is Missed.SKIP


async def test_amendments_of_many_at_once_lose_nothing(service: Scheduling) -> None:
    """Each is made anew of what the others have stored."""
    await service.create(NAME, open_start(), USER)

    def more(there: Definition) -> Definition:
        attempts = there.template.max_attempts + 1
        return evolve(there, template=evolve(there.template, max_attempts=attempts))

    await asyncio.gather(*(service.amend(NAME, more, USER) for _ in range(6)))
    assert (await service.get(NAME)).definition.template.max_attempts == 11


async def test_a_change_sent_again_is_answered_as_done(service: Scheduling) -> None:
    """Whose answer was lost need not know which version came of it: an edit, and an amendment."""
    await service.create(NAME, open_start(), USER)
    edited = await service.edit(NAME, open_start("0 * * * *"), USER, version=1)
    assert await service.edit(NAME, open_start("0 * * * *"), USER, version=1) == edited
    amended = await service.amend(NAME, in_zone("Asia/Tokyo"), USER, version=2)
    assert await service.amend(NAME, in_zone("Asia/Tokyo"), USER, version=2) == amended
    assert (edited.version, amended.version) == (2, 3)


async def test_who_names_a_version_changes_no_other(service: Scheduling) -> None:
    """Edits, amendments and deletions alike."""
    await service.create(NAME, open_start(), USER)
    await service.edit(NAME, open_start("0 * * * *"), USER, version=1)
    for change in (
        service.edit(NAME, open_start("30 * * * *"), USER, version=1),
        service.amend(NAME, in_zone("Asia/Tokyo"), USER, version=1),
        service.amend(NAME, in_zone("Asia/Tokyo"), USER, version=3),
        service.delete(NAME, USER, version=1),
    ):
        with pytest.raises(VersionConflict):
            await change
    assert (await service.amend(NAME, in_zone("Asia/Tokyo"), USER, version=2)).version == 3


def in_zone(tz: str) -> Any:
    """The amendment that moves a schedule to another zone."""
    return lambda there: evolve(there, timing=evolve(there.timing, tz=tz))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (open_start("0 0 30 2 *"), "cron"),
        (open_start("0 0 0 * * *"), "cron"),
        (open_start("every day"), "cron"),
        (open_start(tz="Mars/Olympus"), "tz"),
        (open_start(tz="europe/oslo"), "tz"),
        (definition(starts_at=MIDNIGHT.replace(tzinfo=None)), "starts_at"),
        (definition(ends_at=MIDNIGHT.replace(tzinfo=None)), "ends_at"),
        (open_start(jitter=timedelta(days=2)), "jitter"),
        (open_start(catchup_window=timedelta(seconds=1)), "catchup_window"),
        (open_start(queue="two words"), "queue"),
        (open_start(type=""), "type"),
        (open_start(priority=10), "priority"),
        (open_start(payload='{"a":NaN}'), "payload"),
        (open_start(payload="{" + '"a":{' * 64 + "}" * 65), "payload"),
        (open_start(effect_key="mine"), "effect_key"),
    ],
)
async def test_what_cannot_work_is_refused(
    service: Scheduling, plane: Plane, wrong: Definition, field: str
) -> None:
    """By creation, edit and amendment; the error names the field, and nothing is written."""
    await service.create("there", open_start(), USER)
    for change in (
        service.create(NAME, wrong, USER),
        service.edit("there", wrong, USER),
        service.amend("there", lambda _: wrong, USER),
    ):
        with pytest.raises(InvalidInput) as caught:
            await change
        assert caught.value.path[0] == field
    [there] = await service.list()
    assert (there.name, there.version) == ("there", 1)


@pytest.mark.parametrize("name", ["", "two words", "ä", "a" * 129, "a\x00", None, 7], ids=repr)
async def test_a_name_outside_the_pattern_is_refused_everywhere(service: Scheduling, name: Any) -> None:
    """Also where it could only be unknown: the database is not asked."""
    for change in (
        service.create(name, open_start(), USER),
        service.edit(name, open_start(), USER),
        service.amend(name, in_zone("UTC"), USER),
        service.pause(name, USER),
        service.resume(name, USER),
        service.trigger(name, USER),
        service.delete(name, USER),
        service.get(name),
        service.firings(name),
    ):
        with pytest.raises(InvalidInput, match="name: must match"):
            await change


async def test_an_unstorable_reason_is_refused_everywhere(service: Scheduling, plane: Plane) -> None:
    """Before the schedule is touched."""
    await service.create(NAME, open_start(), USER)
    bad = evolve(USER, reason="\x00")
    for change in (
        service.create("other", open_start(), bad),
        service.edit(NAME, open_start("0 * * * *"), bad),
        service.pause(NAME, bad),
        service.resume(NAME, bad),
        service.trigger(NAME, bad),
        service.delete(NAME, bad),
    ):
        with pytest.raises(InvalidInput, match="reason"):
            await change
    assert [one.version for one in await service.list()] == [1]


async def test_what_is_not_there_is_not_found(service: Scheduling) -> None:
    """By any method but the ledger, which outlives its schedule."""
    for change in (
        service.edit(NAME, open_start(), USER),
        service.amend(NAME, in_zone("UTC"), USER),
        service.pause(NAME, USER),
        service.resume(NAME, USER),
        service.trigger(NAME, USER),
        service.delete(NAME, USER),
        service.get(NAME),
    ):
        with pytest.raises(ScheduleNotFound):
            await change
    assert await service.firings(NAME) == []


async def test_who_asks_twice_with_one_request_id_fires_once(service: Scheduling) -> None:
    """And who has none is refused, as everybody would share it."""
    await service.create(NAME, open_start(), USER)
    first, again, other = [await service.trigger(NAME, asked(request)) for request in ("a", "a", "b")]
    assert [one.is_new for one in (first, again, other)] == [True, False, True]
    assert first.firing == again.firing
    assert first.firing.job_id != other.firing.job_id
    for nobody in (Origin("user:test"), asked(" ")):
        with pytest.raises(InvalidInput, match="request_id"):
            await service.trigger(NAME, nobody)


async def test_a_trigger_fires_beside_a_pause_and_by_its_own_overlap(service: Scheduling) -> None:
    """The schedule's own policy is for the clock."""
    await service.create(NAME, open_start(), USER)
    assert await service.pause(NAME, USER) is Verdict.ACCEPTED
    outcomes = [
        (await service.trigger(NAME, asked(f"request-{number}"), overlap=overlap)).firing.outcome
        for number, overlap in enumerate((Overlap.ALLOW, Overlap.ALLOW, Overlap.SKIP, Overlap.QUEUE_ONE))
    ]
    assert outcomes == [Outcome.FIRED, Outcome.FIRED, Outcome.SKIPPED, Outcome.QUEUED]


async def test_catching_up_with_all_really_does(service: Scheduling, plane: Plane) -> None:
    """Unless overlap is chosen, the jobs of missed fire times do not keep one another from being inserted."""
    await service.create("all", open_start(missed=Missed.ALL), USER)
    await service.create("skip", open_start(missed=Missed.ALL, overlap=Overlap.SKIP), USER)
    await plane.fire(timedelta(hours=6))
    assert len(await plane.ledger("all")) == 72
    assert {row.outcome for row in await plane.ledger("all")} == {Outcome.FIRED}
    assert [row.outcome for row in await plane.ledger("skip")] == [Outcome.FIRED, Outcome.SKIPPED]


@pytest.mark.parametrize("limit", [0, 1_001, True, "5"], ids=repr)
async def test_a_page_has_a_limit(service: Scheduling, limit: Any) -> None:
    """Of 1 to 1,000 rows."""
    with pytest.raises(InvalidInput, match="limit"):
        await service.list(limit=limit)
    with pytest.raises(InvalidInput, match="limit"):
        await service.firings(NAME, limit=limit)


@pytest.mark.parametrize(
    ("where", "field"),
    [
        (LedgerFilter(outcomes=frozenset({"done"})), "outcome: must be one of fired, queued"),  # type: ignore[arg-type]
        (LedgerFilter(reasons=frozenset({"why"})), "reason: must be one of due, missed"),  # type: ignore[arg-type]
        (LedgerFilter(origin=" "), "origin: must not be empty or blank"),
        (LedgerFilter(origin="x" * 256), "origin: must have at most 255 characters"),
    ],
    ids=repr,
)
async def test_a_condition_that_no_row_can_meet_is_refused(
    service: Scheduling, where: LedgerFilter, field: str
) -> None:
    """With its field and rule: an empty ledger would be taken for the answer."""
    with pytest.raises(InvalidInput, match=field):
        await service.firings(NAME, where)


async def test_pages_follow_one_another(service: Scheduling, plane: Plane) -> None:
    """Schedules by name, the ledger by fire time, newest first."""
    for name in ("b", "a", "c"):
        await service.create(name, open_start(overlap=Overlap.ALLOW), USER)
    assert names(await service.list(limit=2)) == ["a", "b"]
    assert names(await service.list(after="b")) == ["c"]
    for _ in range(3):
        await plane.fire(5 * MINUTE)
    first = await service.firings("a", limit=2)
    rest = await service.firings("a", before=first[-1].firing.fire_at)
    assert [row.firing.fire_at for row in [*first, *rest]] == [MIDNIGHT + n * 5 * MINUTE for n in (3, 2, 1)]
    with pytest.raises(InvalidInput, match="before"):
        await service.firings("a", before=MIDNIGHT.replace(tzinfo=None))
    with pytest.raises(InvalidInput, match="after"):
        await service.list(after="no such name\x00")


def names(page: Sequence[Schedule]) -> list[str]:
    """The names of schedules."""
    return [one.name for one in page]
