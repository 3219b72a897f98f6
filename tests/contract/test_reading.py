"""Reads of jobs and of the history: filters, pages, counts."""

from datetime import timedelta
from typing import Any

import pytest

from fencepost.application.ports.event_log import LogFilter
from fencepost.application.ports.job_reader import JobFilter
from fencepost.domain import commands as c
from fencepost.domain.event import JobEvent
from fencepost.domain.job import Job
from fencepost.domain.vocabulary import State
from support.asking import claim, submit, succeed
from support.crowd import OPERATOR, WORKER
from support.reports import ERROR
from support.stores import START, Clock, Lockstep, Stores

SECOND = timedelta(seconds=1)


async def _populate(stores: Stores) -> None:
    """Eight jobs in all states and two queues; job 8 of another type; two events of evidence and a pause."""
    for number in range(1, 8):
        await submit(stores, queue="a" if number < 6 else "b")
    await submit(stores, type="other_type")
    tokens = [job.token for job in (await claim(stores, queue="a")).jobs]
    await succeed(stores, tokens[0])
    discards = [c.Discard(origin=WORKER, token=token, error=ERROR) for token in tokens[1:3]]
    await stores.jobs.report(discards)
    await stores.jobs.operate([tokens[2].job_id], c.Dismiss(origin=OPERATOR))
    await stores.jobs.operate([6], c.Cancel(origin=OPERATOR))
    for token in tokens[:2]:
        await stores.jobs.report([c.Release(origin=WORKER, token=token)])
    await stores.queues.pause("b", OPERATOR)


@pytest.fixture
async def populated(stores: Stores) -> Stores:
    """Stores with something of everything."""
    await _populate(stores)
    return stores


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, [8, 7, 6, 5, 4, 3, 2, 1]),
        ({"states": frozenset({State.RUNNING, State.SUCCEEDED})}, [5, 4, 1]),
        ({"states": frozenset()}, []),
        ({"queue": "b"}, [7, 6]),
        ({"type": "other_type"}, [8]),
        ({"type": "other%"}, []),
        ({"type": "other-type"}, []),
        ({"dismissed": True}, [3]),
        ({"dismissed": False, "states": frozenset({State.DEAD})}, [2]),
        ({"queue": "a", "states": frozenset({State.PENDING})}, []),
        ({"submitted_from": START}, [8, 7, 6, 5, 4, 3, 2, 1]),
        ({"submitted_before": START}, []),
    ],
)
async def test_filters_hold_all_together_and_literally(
    populated: Stores, where: dict[str, Any], expected: list[int]
) -> None:
    """A page shows exactly the jobs that meet every condition, newest first, and the count agrees."""
    page = await populated.reader.page(JobFilter(**where))
    assert [job.job_id for job in page] == expected
    assert await populated.reader.count(JobFilter(**where)) == len(expected)


async def test_submission_times_are_filtered_by_a_half_open_range(stores: Stores, clock: Clock) -> None:
    """From is included, before is not."""
    ids = []
    for _ in range(3):
        ids.append((await submit(stores)).job_id)
        clock.advance(SECOND)
    where = JobFilter(submitted_from=START + SECOND, submitted_before=START + 2 * SECOND)
    assert [job.job_id for job in await stores.reader.page(where)] == ids[1:2]


async def test_pages_follow_each_other_without_gap_or_overlap(populated: Stores) -> None:
    """Going on below the last id shows each job once."""
    seen: list[int] = []
    while page := await populated.reader.page(JobFilter(), below=seen[-1] if seen else None, limit=3):
        seen += [job.job_id for job in page]
    assert seen == [8, 7, 6, 5, 4, 3, 2, 1]


async def test_counts_stop_where_asked_and_states_are_exact(populated: Stores) -> None:
    """A capped count never exceeds its cap; the states' counts add up."""
    assert await populated.reader.count(JobFilter(), most=5) == 5
    states = await populated.reader.states(JobFilter())
    assert {state: number for state, number in states.items() if number} == {
        State.PENDING: 2,
        State.RUNNING: 2,
        State.SUCCEEDED: 1,
        State.DEAD: 2,
        State.CANCELLED: 1,
    }
    assert sum((await populated.reader.states(JobFilter(queue="b"))).values()) == 2


async def test_a_job_that_does_not_exist_reads_as_nothing(stores: Stores) -> None:
    """No row, no history, no evidence."""
    assert await stores.reader.get(4_711) is None
    assert list(await stores.log.history(4_711)) == []
    assert list(await stores.log.evidence(4_711)) == []


@pytest.mark.parametrize(
    "where",
    [
        LogFilter(),
        LogFilter(names=frozenset({"claimed", "report_refused"})),
        LogFilter(names=frozenset()),
        LogFilter(actor=OPERATOR.actor),
        LogFilter(job_id=1),
        LogFilter(subject="job:1"),
        LogFilter(subject="queue:b"),
        LogFilter(subject="queue:b", job_id=1),
        LogFilter(subject="nothing"),
        LogFilter(since=START),
        LogFilter(since=START + SECOND),
    ],
)
async def test_the_global_log_is_filtered_alike(lockstep: Lockstep, where: LogFilter) -> None:
    """Memory and PostgreSQL show the same events of both tables, in order of positions."""
    pages = []
    for stores in (lockstep.memory, lockstep.postgres):
        await _populate(stores)
        page = await stores.log.page(where)
        positions = [event.position for event in page]
        assert positions == sorted(positions, key=lambda position: position or 0)
        pages.append([(type(event), event.name, event.at, event.actor) for event in page])
    assert pages[0] == pages[1]


async def test_the_log_is_read_on_from_a_position(populated: Stores) -> None:
    """Pages after the last position seen give the whole log, each event once."""
    whole = list(await populated.log.page(LogFilter(), limit=1_000))
    read: list[object] = []
    after = 0
    while page := await populated.log.page(LogFilter(), after=after, limit=4):
        read += page
        after = page[-1].position or 0
    assert read == whole
    assert len(whole) > 20


async def test_the_stream_gives_every_job_its_events_and_then_its_row(populated: Stores) -> None:
    """Jobs come by job_id, events by seq; one job can be asked for alone."""
    items = [item async for item in populated.log.stream()]
    keys = [
        (item.job_id, isinstance(item, Job), item.seq) for item in items if isinstance(item, Job | JobEvent)
    ]
    assert keys == sorted(keys)
    assert sum(isinstance(item, Job) for item in items) == 8
    alone = [item async for item in populated.log.stream(job_id=2)]
    assert alone == [item for item in items if item.job_id == 2]


async def test_control_events_are_streamed_by_position(populated: Stores) -> None:
    """The stream holds what the log shows of the control events."""
    streamed = [event async for event in populated.log.control_stream()]
    assert [event.name.value for event in streamed] == [
        "report_refused",
        "report_refused",
        "queue_pausing",
        "queue_paused",
    ]


async def test_the_log_knows_the_clock_that_decides(stores: Stores, clock: Clock) -> None:
    """The verifier judges by the database's clock."""
    assert await stores.log.clock() == clock()
