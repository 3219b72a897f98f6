"""Taking a crontab over: what there is to do, the first time and later."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve

from fencepost.application.crontab.definitions import Terms, source_of
from fencepost.application.crontab.importing import Plan, plan
from fencepost.application.crontab.reading import read_crontab
from fencepost.domain.schedule import Missed, Overlap, Policies, Schedule
from fencepost.domain.schedule_changes import created, edited
from fencepost.domain.values import decode
from support.schedules import MIDNIGHT, MINUTE, definition

TERMS = Terms(source="web1:/etc/crontab", user="ann")
TWO = "0 1 * * * /opt/backup\n30 2 * * 0 /opt/report\n"


def planned(text: str, there: dict[str, Schedule], terms: Terms = TERMS, **options: str) -> Plan:
    """What there is to do for a crontab."""
    return plan(read_crontab(text, **options), terms, there)


def done(found: Plan, there: dict[str, Schedule]) -> dict[str, Schedule]:
    """The schedules when it is done; what has vanished is left."""
    new = {
        step.entry.name: created(step.entry.name, step.definition, MIDNIGHT) for step in found.of("create")
    }
    changed = {
        step.there.name: edited(step.there, step.definition, MIDNIGHT).schedule
        for step in found.of("change")
        if step.there is not None
    }
    return {**there, **new, **changed}


def imported(text: str = TWO, terms: Terms = TERMS, **options: str) -> dict[str, Schedule]:
    """The schedules of a crontab that was taken over."""
    return done(planned(text, {}, terms, **options), {})


def kinds(found: Plan) -> list[str]:
    """What becomes of each entry."""
    return [step.kind for step in found.steps]


def payload(schedule: Schedule) -> dict[str, Any]:
    """The payload of its jobs."""
    found = decode("payload", schedule.definition.template.payload or "")
    assert isinstance(found, dict)
    return found


def test_an_entry_becomes_what_cron_would_do() -> None:
    """No catching up, no waiting for the run before, no retries, no timeout."""
    [schedule] = imported("CRON_TZ=Europe/Oslo\nA=b\nSHELL=/bin/bash\n@daily cat > all%one%two\n").values()
    one = schedule.definition
    assert (one.timing.cron, one.timing.tz, one.timing.jitter) == ("@daily", "Europe/Oslo", timedelta(0))
    assert one.policies == Policies(missed=Missed.SKIP, overlap=Overlap.ALLOW)
    assert (one.template.type, one.template.queue) == ("shell.run", "default")
    assert (one.template.max_attempts, one.template.timeout) == (1, None)
    assert payload(schedule) == {
        "command": "cat > all",
        "stdin": "one\ntwo\n",
        "environment": {"A": "b", "CRON_TZ": "Europe/Oslo"},
        "shell": "/bin/bash",
        "source": "web1:/etc/crontab",
    }


def test_the_second_time_there_is_nothing_to_do() -> None:
    """However often it is run."""
    there = imported()
    again = planned(TWO, there)
    assert (kinds(again), again.refusals, again.clashes, again.vanished) == (["keep", "keep"], [], [], [])


def test_other_times_settings_and_zones_are_changes() -> None:
    """The command is what a schedule is known by."""
    there = imported()
    for text in (TWO.replace("0 1", "5 1"), f"A=b\n{TWO}", f"CRON_TZ=Europe/Oslo\n{TWO}"):
        found = planned(text, there)
        assert "change" in kinds(found)
        assert found.vanished == []
        assert kinds(planned(text, done(found, there))) == ["keep", "keep"]


def test_what_only_people_say_stays_theirs() -> None:
    """Policies, priority, timeout, and a queue that nobody names; also where the crontab changes."""
    there = imported()
    (name, schedule), *_ = there.items()
    template = evolve(schedule.definition.template, priority=9, timeout=MINUTE, queue="slow")
    timing = evolve(schedule.definition.timing, jitter=MINUTE)
    mine = evolve(schedule.definition, template=template, timing=timing, policies=Policies())
    there[name] = evolve(schedule, definition=mine)
    assert kinds(planned(TWO, there)) == ["keep", "keep"]
    changed = planned(TWO.replace("0 1", "5 1"), there).steps[0].definition
    assert (changed.timing.cron, changed.timing.jitter) == ("5 1 * * *", MINUTE)
    assert (changed.template.priority, changed.template.queue) == (9, "slow")
    assert changed.policies == Policies()
    queued = planned(TWO, there, evolve(TERMS, queue="night"))
    assert [step.definition.template.queue for step in queued.steps] == ["night", "night"]


def test_what_has_no_line_any_more_has_vanished() -> None:
    """Also when the names begin otherwise now; other crontabs' schedules have not."""
    there = imported()
    other = imported("0 1 * * * /opt/other\n", evolve(TERMS, source="web2:/etc/crontab"))
    stranger = {"mine": created("mine", definition(), MIDNIGHT)}
    all_there = {**there, **other, **stranger}
    found = planned(TWO.splitlines(keepends=True)[1], all_there)
    assert [schedule.name for schedule in found.vanished] == [next(iter(there))]
    moved = planned(TWO, all_there, prefix="elsewhere/")
    assert kinds(moved) == ["create", "create"]
    assert [schedule.name for schedule in moved.vanished] == list(there)


def test_a_name_of_another_crontab_is_in_the_way() -> None:
    """The same command in two files under one prefix, or in the same file of two machines."""
    there = imported()
    found = planned(TWO, there, evolve(TERMS, source="web2:/etc/crontab"))
    assert found.steps == []
    assert [clash.source for clash in found.clashes] == ["web1:/etc/crontab"] * 2
    assert found.vanished == []


def test_a_crontab_that_has_moved_can_take_its_schedules_over() -> None:
    """When somebody says so; a schedule from no crontab stays where it is."""
    moved = evolve(TERMS, source="web1:/srv/crontab", take_over=True)
    there = imported()
    found = planned(TWO, there, moved)
    assert kinds(found) == ["change", "change"]
    after = done(found, there)
    assert {source_of(schedule.definition) for schedule in after.values()} == {"web1:/srv/crontab"}
    assert kinds(planned(TWO, after, evolve(moved, take_over=False))) == ["keep", "keep"]
    name = next(iter(there))
    own = {name: created(name, definition(), MIDNIGHT)}
    assert [clash.source for clash in planned(TWO, own, moved).clashes] == [None]


@pytest.mark.parametrize(
    ("terms", "user", "refused"),
    [
        (TERMS, "ann", False),
        (TERMS, "root", True),
        (evolve(TERMS, as_worker=True), "root", False),
    ],
)
def test_commands_of_another_user_need_a_word(terms: Terms, user: str, refused: bool) -> None:
    """A worker runs them as its own user, which cron would not have done."""
    found = planned(f"0 1 * * * {user} /opt/backup\n", {}, terms, format="system")
    assert [refusal.line for refusal in found.refusals] == [1] * refused
    for step in found.steps:
        named = payload(created("x", step.definition, MIDNIGHT)).get("user")
        assert named == (None if terms.as_worker else user)


def test_a_user_who_may_not_be_vouched_for_is_not_a_line_that_vanished() -> None:
    """Its schedule goes on."""
    there = imported("0 1 * * * root /opt/backup\n", evolve(TERMS, as_worker=True), format="system")
    found = planned("0 1 * * * root /opt/backup\n", there, format="system")
    assert ([refusal.line for refusal in found.refusals], found.vanished) == ([1], [])


@pytest.mark.parametrize("settings", ["SHELL=bash", "A=" + "x" * 300_000])
def test_what_no_job_could_run_is_refused(settings: str) -> None:
    """Before there is a schedule of it."""
    found = planned(f"{settings}\n0 1 * * * /opt/backup\n", {})
    assert found.steps == []
    assert found.refusals


def test_refusals_come_in_the_order_of_the_file() -> None:
    """Whoever has refused the line."""
    text = "@reboot ann x\n0 1 * * * root y\n61 * * * * ann z\n"
    assert [refusal.line for refusal in planned(text, {}, format="system").refusals] == [1, 2, 3]
