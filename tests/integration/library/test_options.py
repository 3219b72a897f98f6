"""What options do to the job that is stored."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fencepost import Constant, Context, Delays, Exponential, Fencepost, InvalidInput, Unique
from fencepost.domain.retry import RETRY_DEFAULT
from fencepost.entrypoints.library.job_type import JobType
from support.programs import found

NOON = datetime(2031, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
KEPT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"queue": "side", "priority": 8}, {"queue": "side", "priority": 8}),
    ({"run_at": NOON}, {"run_at": NOON}),
    ({"max_attempts": 1}, {"max_attempts": 1}),
    ({"timeout": None}, {"timeout": None}),
    ({"timeout": "1m30s"}, {"timeout": timedelta(seconds=90)}),
    ({"timeout": 0.5}, {"timeout": timedelta(milliseconds=500)}),
    ({"lease": SECOND}, {"lease": SECOND}),
    ({"retry": "5m"}, {"retry": Constant(timedelta(minutes=5))}),
    ({"retry": 7}, {"retry": Constant(7 * SECOND)}),
    ({"retry": ["1s", 2, 3 * SECOND]}, {"retry": Delays((SECOND, 2 * SECOND, 3 * SECOND))}),
    ({"retry": Exponential(base=SECOND, cap=SECOND)}, {"retry": Exponential(SECOND, SECOND)}),
    ({"effect_key": "charge-7"}, {"effect_key": "charge-7"}),
]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"priority": 10}, "priority"),
    ({"priority": True}, "priority"),
    ({"queue": "no spaces"}, "queue"),
    ({"max_attempts": 0}, "max_attempts"),
    ({"timeout": 0}, "timeout"),
    ({"timeout": "5"}, "timeout"),
    ({"lease": "-1s"}, "lease"),
    ({"lease": "2d"}, "lease"),
    ({"retry": []}, "retry.delays"),
    ({"retry": 0}, "retry.delay"),
    ({"retry": b"\x05"}, "retry"),
    ({"retry": True}, "retry"),
    ({"unique": "user_id"}, "unique"),
    ({"prioirty": 1}, "prioirty"),
]
BAD_FOR_ONE: list[tuple[dict[str, Any], str]] = [
    ({"delay": -5}, "delay"),
    ({"delay": float("nan")}, "delay"),
    ({"delay": 1e308}, "delay"),
    ({"delay": "1h", "run_at": NOON}, "delay"),
    ({"run_at": datetime(2031, 1, 1)}, "run_at"),  # noqa: DTZ001  what is tested
    ({"run_at": "2031-01-01"}, "run_at"),
    ({"key": " "}, "key"),
    ({"key": "k" * 256}, "key"),
    ({"effect_key": ""}, "effect_key"),
    ({"actor": "a\x00"}, "actor"),
    ({"reason": 5}, "reason"),
]


def registered(app: Fencepost, **options: Any) -> JobType[...]:
    """A job type with these options."""

    @app.job("work", **options)
    async def work(ctx: Context, user_id: int = 0, kind: str = "plain") -> None: ...

    return work


@pytest.mark.parametrize(("options", "kept"), KEPT, ids=str)
async def test_an_option_is_kept_with_the_job(
    app: Fencepost, options: dict[str, Any], kept: dict[str, Any]
) -> None:
    """As an option of one submit; the type's other jobs are not touched by it."""
    work = registered(app)
    job = await found(app, (await work.options(**options).submit()).job_id)
    assert {name: getattr(job, name) for name in kept} == kept
    plain = await found(app, (await work.submit()).job_id)
    assert (plain.queue, plain.priority, plain.retry, plain.effect_key) == ("default", 5, RETRY_DEFAULT, None)
    assert (plain.timeout, plain.lease, plain.max_attempts) == (timedelta(hours=1), 30 * SECOND, 5)


@pytest.mark.parametrize("delay", ["10m", 600, 600.0, timedelta(minutes=10)], ids=str)
async def test_a_delay_counts_from_the_submit(app: Fencepost, delay: Any) -> None:
    """On the database's clock."""
    job = await found(app, (await registered(app).options(delay=delay).submit()).job_id)
    assert job.run_at - job.submitted_at == timedelta(minutes=10)


async def test_options_of_the_type_hold_until_a_submit_says_otherwise(app: Fencepost) -> None:
    """Later options win over earlier ones, and over the type's."""
    work = registered(app, priority=1, timeout=None, queue="side")
    job = await found(app, (await work.options(priority=2).options(priority=3).submit()).job_id)
    assert (job.priority, job.timeout, job.queue) == (3, None, "side")


@pytest.mark.parametrize(("options", "field"), BAD, ids=str)
async def test_a_bad_option_is_refused_where_it_is_written(options: dict[str, Any], field: str) -> None:
    """When the handler is registered and when one submit is prepared: nothing needs a database for that."""
    with pytest.raises(InvalidInput) as caught:
        registered(Fencepost("postgresql://nowhere"), **options)
    assert caught.value.field == field
    with pytest.raises(InvalidInput) as caught:
        registered(Fencepost("postgresql://nowhere")).options(**options)
    assert caught.value.field == field


@pytest.mark.parametrize(("options", "field"), BAD_FOR_ONE, ids=str)
async def test_a_bad_option_of_one_submit_is_refused(options: dict[str, Any], field: str) -> None:
    """The error names the option."""
    with pytest.raises(InvalidInput) as caught:
        registered(Fencepost("postgresql://nowhere")).options(**options)
    assert caught.value.field == field


async def test_what_only_one_submit_can_say_is_no_option_of_a_type() -> None:
    """A key for all jobs of a type would make them one job."""
    with pytest.raises(InvalidInput, match="key: is not an option here"):
        registered(Fencepost("postgresql://nowhere"), key="k")


async def test_arguments_may_be_called_like_options(app: Fencepost) -> None:
    """They never share a call: ``queue`` of the payload is not the queue."""

    @app.job
    async def move(ctx: Context, queue: str, tx: int, key: str, self: int, context: bool) -> None: ...

    answer = await move.options(queue="side", key="k").submit(queue="q", tx=1, key="x", self=5, context=True)
    job = await found(app, answer.job_id)
    assert job.queue == "side"
    assert job.payload == '{"queue":"q","tx":1,"key":"x","self":5,"context":true}'


async def test_unique_true_compares_the_whole_payload(app: Fencepost) -> None:
    """An unfinished job of the same type, queue and payload is the answer, defaults written out or not."""
    work = registered(app, unique=True)
    first = await work.submit(1)
    assert (await work.submit(1, kind="plain")).job_id == first.job_id
    assert (await work.submit(1, kind="other")).created
    assert (await work.options(queue="side").submit(1)).created
    assert (await work.options(unique=False).submit(1)).created


async def test_unique_options_can_choose_fields(app: Fencepost) -> None:
    """Only these fields count, also where the caller leaves one at its default."""
    work = registered(app, unique=Unique(fields=["kind"]))
    first = await work.submit(1)
    again = await work.options(queue="default").submit(2, kind="plain")
    assert (again.job_id, again.created) == (first.job_id, False)
    assert (await work.submit(2, kind="other")).created
    everywhere = work.options(unique=Unique(across_queues=True))
    assert (await everywhere.submit(1)).created
    assert not (await everywhere.options(queue="side").submit(1)).created


async def test_unique_for_a_period_outlives_the_job(app: Fencepost) -> None:
    """At most one per period, finished or not; the period is a duration as everywhere."""
    work = registered(app, unique=Unique(period="1h"))
    first = await work.submit(1)
    await app.cancel(first.job_id)
    assert (await work.submit(1)).job_id == first.job_id


@pytest.mark.parametrize("bad", [{"fields": "kind"}, {"period": 0}, {"period": "soon"}], ids=str)
def test_bad_unique_options_are_refused_where_they_are_written(bad: dict[str, Any]) -> None:
    """A text instead of a list of names would mean its letters."""
    with pytest.raises(InvalidInput, match="unique"):
        Unique(**bad)


async def test_unique_options_name_arguments(app: Fencepost) -> None:
    """A field that the handler does not have is found out at registration."""
    with pytest.raises(InvalidInput, match=r"unique\.fields"):
        registered(app, unique=Unique(fields=("user",)))
