"""The checker over random lives of schedules: silent about honest ones, and no lie about a decision slips through."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.domain.commands import Cancel, Requeue
from fencepost.domain.errors import FencepostError
from fencepost.domain.ledger_rows import LedgerRow
from fencepost.domain.schedule import Overlap
from support.ledgers import TimeStory, Told, at_once
from support.rig import USER
from support.schedule_lives import definitions
from support.schedules import MIDNIGHT, MINUTE

NAMES = ("a", "b")
CHANGES = ("create", "create", "edit", "pause", "resume", "resume", "delete", "trigger", "backfill")
WORK = ("finish", "die", "requeue", "cancel", "carry out")
TIME = ("round", "round", "round", "round", "fire late")

steps = st.tuples(
    st.sampled_from([*CHANGES, *WORK, *TIME]),
    st.sampled_from(NAMES),
    definitions,
    st.integers(0, 40),
    st.sampled_from([Overlap.ALLOW, Overlap.SKIP, Overlap.QUEUE_ONE]),
)
lives = st.lists(steps, min_size=3, max_size=25)


def _change(story: TimeStory, kind: str, name: str, wanted: Any, minutes: int, overlap: Overlap) -> None:
    schedules = story.schedules
    match kind:
        case "create":
            at_once(schedules.create(name, wanted, USER))
        case "edit":
            at_once(schedules.edit(name, wanted, USER))
        case "pause" | "resume" | "delete":
            getattr(story, kind)(name)
        case "trigger":
            story.trigger(f"request-{minutes}", overlap, name)
        case "backfill":
            now = (story.clock() - MIDNIGHT) / MINUTE
            story.backfill(f"request-{minutes}", now - minutes, now, name, overlap=overlap)


def _work(story: TimeStory, kind: str, minutes: int) -> None:
    jobs = MemoryJobStore(story.database)
    match kind:
        case "finish" | "die":
            story.finish(dead=kind == "die")
        case "requeue":
            at_once(jobs.operate([minutes], Requeue(origin=USER, fresh_effect_key=False)))
        case "cancel":
            at_once(jobs.operate([minutes], Cancel(origin=USER)))
        case "carry out":
            story.carry_out(minutes + 1)


def _live(story: TimeStory, life: list[Any], steps_back: bool) -> None:
    """Do all of it; what is refused leaves no trace."""
    for kind, name, wanted, minutes, overlap in life:
        with suppress(FencepostError):
            if kind in CHANGES:
                _change(story, kind, name, wanted, minutes, overlap)
            elif kind in WORK:
                _work(story, kind, minutes)
            elif kind == "round":
                story.round(minutes / 7)
            elif steps_back and minutes > 20:
                story.after(-minutes)
            else:
                story.after(minutes)


def _lived(life: list[Any], steps_back: bool) -> Told:
    story, latest = TimeStory(), MIDNIGHT
    for step in life:
        _live(story, [step], steps_back)
        latest = max(latest, story.clock())
    story.clock.now = latest
    return story.told()


@given(lives)
def test_no_honest_schedule_raises_an_alarm(life: list[Any]) -> None:
    """Whatever people, schedulers and workers do, and wherever the clock steps."""
    report = _lived(life, steps_back=True).judged()
    assert report.violations == ()
    assert report.unverifiable == ()


def _deleted(told: Told, index: int) -> None:
    del told.ledger[index]


def _set(**change: Callable[[LedgerRow], Any]) -> Callable[[Told, int], None]:
    def plant(told: Told, index: int) -> None:
        row = told.ledger[index]
        told.ledger[index] = evolve(row, **{field: value(row) for field, value in change.items()})

    return plant


def _doubled(told: Told, index: int) -> None:
    told.ledger.append(evolve(told.ledger[index], origin="trigger:forged", job_id=None))


LIES: dict[str, Callable[[Told, int], None]] = {
    "deleted": _deleted,
    "doubled": _doubled,
    "moved": _set(fire_at=lambda row: row.fire_at + timedelta(seconds=1)),
    "moved as a whole": _set(
        fire_at=lambda row: row.fire_at - timedelta(seconds=1),
        until=lambda row: row.until - timedelta(seconds=1),
    ),
    "longer": _set(until=lambda row: row.until + MINUTE),
    "counts more": _set(count=lambda row: row.count + 1),
    "of another version": _set(version=lambda row: row.version + 1),
    "with another job": _set(job_id=lambda row: (row.job_id or 0) + 1_000),
    "of another outcome": _set(outcome=lambda row: "skipped" if row.outcome != "skipped" else "coalesced"),
    "made of nothing": _set(origin=lambda row: "user:ann"),
}


@given(lives, st.sampled_from(sorted(LIES)), st.data())
def test_no_decision_can_be_forged_unseen(life: list[Any], lie: str, data: st.DataObject) -> None:
    """One row of the ledger that is removed or changed is one violation at least."""
    told = _lived(life, steps_back=False)
    if not told.ledger:
        return
    LIES[lie](told, data.draw(st.integers(0, len(told.ledger) - 1)))
    assert not told.judged().clean
