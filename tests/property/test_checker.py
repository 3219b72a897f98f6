"""The checker over random histories: silent about honest ones, and no lie slips through."""

from datetime import datetime, timedelta
from typing import Any

from attrs import evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain import commands as c
from fencepost.domain.decide import decide
from fencepost.domain.event import JobEvent
from fencepost.domain.invariants import check
from fencepost.domain.job import Job
from fencepost.domain.vocabulary import State
from support.histories import OPERATOR, REAPER, SECOND, WORKER, Story, log_of
from support.reports import every_report
from support.strategies import draws, policies

OPERATIONS: tuple[c.Command, ...] = (
    c.Cancel(origin=OPERATOR),
    c.Revoke(origin=OPERATOR),
    c.Revoke(origin=OPERATOR, cancel=True),
    c.Requeue(origin=OPERATOR, fresh_effect_key=False),
    c.Requeue(origin=OPERATOR, fresh_effect_key=True, payload='{"n":2}'),
    c.Edit(origin=OPERATOR, priority=1, payload='{"n":3}'),
    c.Edit(origin=OPERATOR, queue="other", run_at=datetime.fromisoformat("2031-01-01T00:00:00+00:00")),
    c.Dismiss(origin=OPERATOR),
)

steps = st.tuples(
    st.sampled_from(["claim", "claim", "report", "report", "expire", "heartbeat", "operate"]),
    st.integers(0, 100),
    st.integers(0, 60_000_000).map(lambda microseconds: timedelta(microseconds=microseconds)),
    draws,
)


def _command(story: Story, kind: str, choice: int, draw: float) -> c.Command:
    if kind == "claim":
        return c.Claim(origin=WORKER, claim_id=f"claim-{story.job.seq}")
    if kind == "report" and story.job.token is not None:
        reports = every_report(story.token, WORKER, delay=choice * SECOND, draw=draw)
        return reports[choice % len(reports)]
    if kind == "expire":
        return c.Expire(origin=REAPER, draw=draw)
    return OPERATIONS[choice % len(OPERATIONS)]


@st.composite
def stories(draw: st.DrawFn, job_id: int = 1, least: int = 0) -> Story:
    """What the decider makes of random commands at random times; what it refuses leaves no trace."""
    facts = {"max_attempts": draw(st.integers(1, 4)), "retry": draw(policies)}
    story = Story(job_id).submit(**facts)
    for kind, choice, wait, spread in draw(st.lists(steps, min_size=least, max_size=30)):
        story.now += wait
        if kind == "claim":
            story.now = max(story.now, story.job.run_at)
        if kind == "heartbeat" and story.job.token is not None:
            story.heartbeat()
            continue
        decision = decide(story.row, _command(story, kind, choice, spread), story.now)
        if isinstance(decision, JobEvent):
            story.add(decision)
    return story


def _clean(story: Story) -> bool:
    return check(log_of(story), [], story.now).clean


@given(stories(1), stories(2))
def test_no_honest_history_raises_an_alarm(one: Story, two: Story) -> None:
    """Whatever the decider allows keeps every promise."""
    report = check(log_of(one, two), [], max(one.now, two.now))
    assert report.violations == ()
    assert report.events == len(one.events) + len(two.events)


@given(stories(), st.data())
def test_no_event_can_be_deleted_unseen(story: Story, data: st.DataObject) -> None:
    """One event less is one violation at least."""
    del story.events[data.draw(st.integers(0, len(story.events) - 1))]
    assert not _clean(story)


@given(stories(least=5), st.data())
def test_no_two_events_can_be_swapped_unseen(story: Story, data: st.DataObject) -> None:
    """Two neighbours in each other's place do not make a history, unless both are of one kind."""
    if len(story.events) < 2:
        return
    first = data.draw(st.integers(0, len(story.events) - 2))
    one, other = story.events[first : first + 2]
    story.events[first : first + 2] = [
        evolve(other, seq=one.seq, position=one.position),
        evolve(one, seq=other.seq, position=other.position),
    ]
    assert not _clean(story) or one.name == other.name


LIES: dict[str, Any] = {
    "seq": lambda event: event.seq + 1,
    "attempt": lambda event: event.attempt + 1,
    "failures": lambda event: event.failures + 1,
    "claim_id": lambda event: "another",
    "state": lambda event: State.RUNNING if event.state is not State.RUNNING else State.DEAD,
    "payload": lambda event: '{"forged":1}',
    "position": lambda event: 0 if event.seq > 1 else 10**9,
}


@given(stories(least=1), st.data())
def test_no_event_can_be_changed_unseen(story: Story, data: st.DataObject) -> None:
    """A lie in an event shows against its neighbours, its digest or the row."""
    index = data.draw(st.integers(1, len(story.events) - 1) if len(story.events) > 1 else st.just(0))
    field = data.draw(st.sampled_from(sorted(LIES if index else set(LIES) - {"position", "claim_id"})))
    story.events[index] = evolve(story.events[index], **{field: LIES[field](story.events[index])})
    assert not _clean(story)


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case datetime():
            return value - SECOND
        case timedelta():
            return value + SECOND
        case _:
            return None


@given(stories(), st.data())
def test_no_field_of_the_row_can_be_changed_unseen(story: Story, data: st.DataObject) -> None:
    """Every field that has a value has the one that the events give it."""
    row = {field.name: getattr(story.job, field.name) for field in fields(Job)}
    told = [
        field for field in row if _other(row[field]) is not None and field not in {"job_id", "heartbeats"}
    ]
    if story.job.heartbeats:
        told.remove("lease_expires_at")
    field = data.draw(st.sampled_from(told))
    story.row = evolve(story.job, **{field: _other(row[field])})
    assert not _clean(story)
