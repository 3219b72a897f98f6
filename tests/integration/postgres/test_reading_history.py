"""Reading the history: one snapshot, odd rows included."""

import pytest
from attrs import evolve

from fencepost.application.ports.event_log import LogFilter
from fencepost.application.ports.job_reader import JobFilter
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import fold
from fencepost.domain.job import Job
from fencepost.domain.ledger_rows import LedgerRow
from fencepost.domain.vocabulary import EventName, State
from support.rig import USER, Rig, submission, success


async def streamed(rig: Rig, job_id: int | None = None) -> list[tuple[int, object]]:
    """What the stream yields: (job_id, name) of events, (job_id, state) of rows."""
    return [
        (item.job_id, item.name if isinstance(item, JobEvent) else item.state)
        async for item in rig.log.stream(job_id=job_id)
        if isinstance(item, JobEvent | Job)
    ]


async def test_the_stream_gives_each_jobs_events_and_then_its_row(rig: Rig) -> None:
    """Interleaved lives come out job by job, events by seq, the row last."""
    await rig.submit(*(submission() for _ in range(3)))
    tokens = await rig.claim(limit=2)
    await rig.jobs.report([success(tokens[1])()])
    assert await streamed(rig) == [
        (1, EventName.ENQUEUED),
        (1, EventName.CLAIMED),
        (1, State.RUNNING),
        (2, EventName.ENQUEUED),
        (2, EventName.CLAIMED),
        (2, EventName.SUCCEEDED),
        (2, State.SUCCEEDED),
        (3, EventName.ENQUEUED),
        (3, State.PENDING),
    ]
    assert await streamed(rig, 3) == [(3, EventName.ENQUEUED), (3, State.PENDING)]
    assert await streamed(rig, 4) == []


@pytest.mark.unproven("it removes rows and events")
async def test_the_stream_shows_rows_without_events_and_events_without_rows(rig: Rig) -> None:
    """What should not exist is shown all the same: the checker has to see it."""
    await rig.submit(*(submission() for _ in range(3)))
    await rig.ask("ALTER TABLE fencepost.job_events DISABLE TRIGGER append_only")
    await rig.ask("DELETE FROM fencepost.job_events WHERE job_id IN (1, 3)")
    await rig.ask("ALTER TABLE fencepost.job_events ENABLE ALWAYS TRIGGER append_only")
    await rig.ask("DELETE FROM fencepost.jobs WHERE job_id = 2")
    assert await streamed(rig) == [(1, State.PENDING), (2, EventName.ENQUEUED), (3, State.PENDING)]


async def test_the_stream_is_one_snapshot(rig: Rig) -> None:
    """What commits while it is being read is not in it, neither as an event nor as a row."""
    await rig.submit(*(submission() for _ in range(5_000)))
    items: list[JobEvent | LedgerRow | Job] = []
    async for item in rig.log.stream():
        if not items:
            await rig.submit(submission())
            await rig.claim(limit=1_000)
        items.append(item)
    assert len(items) == 10_000
    assert {item.state for item in items if isinstance(item, Job)} == {State.PENDING}


@pytest.mark.unproven("it plants events of a version to come")
async def test_an_unknown_event_name_is_read_as_it_is(rig: Rig) -> None:
    """A newer version wrote events that this one does not know: every reader shows them."""
    [answer] = await rig.submit(submission())
    await rig.ask(
        "INSERT INTO fencepost.job_events (job_id, seq, attempt, failures, name, state, at, actor, data)"
        " VALUES (%s, 2, 0, 0, 'polished', 'pending', clock_timestamp(), 'user:newer', '{\"shine\": 1}')",
        answer.job_id,
    )
    await rig.ask(
        "INSERT INTO fencepost.control_events (subject, name, at, actor)"
        " VALUES ('job:1', 'admired', clock_timestamp(), 'user:newer')"
    )
    history = await rig.log.history(answer.job_id)
    assert [event.name for event in history] == ["enqueued", "polished"]
    assert history[1].data == {"shine": 1}
    assert [event.name for event in await rig.log.evidence(1)] == ["admired"]
    assert [event.name for event in await rig.log.page(LogFilter(actor="user:newer"))] == [
        "polished",
        "admired",
    ]
    assert [event.name async for event in rig.log.control_stream()] == ["admired"]
    assert len(await streamed(rig)) == 3


async def test_the_global_log_is_read_page_by_page(rig: Rig) -> None:
    """Pages of any size give both tables' events in the order of their positions, none twice."""
    await rig.submit(*(submission() for _ in range(5)))
    await rig.queues.pause("default", USER)
    await rig.submit(*(submission() for _ in range(5)))
    whole = list(await rig.log.page(LogFilter(), limit=100))
    assert [event.position for event in whole] == list(range(1, 13))
    paged: list[object] = []
    while page := await rig.log.page(LogFilter(), after=len(paged), limit=5):
        paged += page
    assert paged == whole


async def test_a_filter_is_taken_literally(rig: Rig) -> None:
    """Patterns and quotes in a filter match nothing but themselves."""
    await rig.submit(submission(), submission(type="w%"))
    for type_, found in (("w%", 1), ("w_", 0), ("'; DROP TABLE jobs", 0), ("work", 1)):
        assert await rig.reader.count(JobFilter(type=type_)) == found


async def test_rows_come_back_as_the_fold_of_their_events(rig: Rig) -> None:
    """Whatever the reader gives for a finished job is what its history says."""
    token = await rig.claimed()
    await rig.jobs.report([success(token)()])
    events = await rig.log.history(token.job_id)
    assert fold(events) == await rig.job(token.job_id)
    assert [evolve(event, position=None) for event in events] != list(events)
