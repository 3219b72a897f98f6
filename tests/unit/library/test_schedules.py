"""Schedules that code declares are checked where they are written down; nothing connects."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import frozen

from fencepost import Context, Fencepost, InvalidInput, JobType, Unique
from fencepost.domain.job import Specification
from fencepost.domain.recurrence import Dst
from fencepost.domain.retry import Constant
from fencepost.domain.schedule import Definition, Missed, Overlap, Policies, Timing


async def report(ctx: Context, user_id: int, kind: str = "short") -> None:
    """A handler with arguments."""


async def bare(ctx: Context) -> None:
    """A handler without."""


@frozen
class Shop:
    """An app that never connects, and its job types."""

    app: Fencepost
    report: JobType[...]
    bare: JobType[...]
    alone: JobType[...]

    @property
    def declared(self) -> dict[str, Definition]:
        """All declarations."""
        return dict(self.app.schedules)


@pytest.fixture
def shop() -> Shop:
    """Nothing is declared."""
    app = Fencepost("postgresql://nowhere")
    options = app.job(queue="reports", priority=7, timeout="10m", max_attempts=2, retry="1m")
    return Shop(app, options(report), app.job(bare), app.job("alone", unique=True)(bare))


def test_a_job_type_is_all_that_a_schedule_needs(shop: Shop) -> None:
    """Policies and the job's options are the usual ones."""
    shop.app.schedule("nightly", "30 2 * * *", shop.bare)
    assert shop.declared == {
        "nightly": Definition(timing=Timing(cron="30 2 * * *"), template=Specification(type="bare"))
    }


def test_policies_are_those_of_every_surface(shop: Shop) -> None:
    """Durations as text, numbers or timedeltas."""
    end = datetime(2040, 1, 1, tzinfo=UTC)
    shop.app.schedule(
        "nightly",
        "30 2 * * *",
        shop.bare,
        tz="Europe/Oslo",
        dst="wall",
        ends_at=end,
        jitter="5m",
        missed="skip",
        catchup_window=3600,
        overlap="queue_one",
        pause_on_failure=True,
    )
    [found] = shop.declared.values()
    assert found.timing == Timing(
        cron="30 2 * * *", tz="Europe/Oslo", dst=Dst.WALL, ends_at=end, jitter=timedelta(minutes=5)
    )
    assert found.policies == Policies(
        missed=Missed.SKIP,
        catchup_window=timedelta(hours=1),
        overlap=Overlap.QUEUE_ONE,
        pause_on_failure=True,
    )


def test_jobs_have_the_options_of_their_type(shop: Shop) -> None:
    """Unless the schedule is given the type with others."""
    shop.app.schedule("short", "@daily", shop.report, payload={"user_id": 42})
    shop.app.schedule("urgent", "@daily", shop.report.options(priority=9), payload={"user_id": 42})
    usual = Specification(
        type="report",
        payload='{"user_id":42}',
        queue="reports",
        priority=7,
        max_attempts=2,
        timeout=timedelta(minutes=10),
        retry=Constant(timedelta(minutes=1)),
    )
    assert shop.declared["short"].template == usual
    assert shop.declared["urgent"].template.priority == 9


def test_a_request_brings_arguments_that_a_type_checker_has_seen(shop: Shop) -> None:
    """It means the same as a payload."""
    shop.app.schedule("one", "@daily", shop.report.request(user_id=42))
    shop.app.schedule("other", "@daily", shop.report, payload={"user_id": 42})
    assert shop.declared["one"] == shop.declared["other"]


def test_expressions_are_kept_in_one_form(shop: Shop) -> None:
    """Another way to write the same is no change of the code."""
    for name, cron in (("a", "0 0 * * *"), ("b", " 0  0 * * *")):
        shop.app.schedule(name, cron, shop.bare)
    assert len({found.timing.cron for found in shop.declared.values()}) == 1


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("cron", {"cron": "30 2 30 2 *"}),
        ("cron", {"cron": "61 * * * *"}),
        ("cron", {"cron": 5}),
        ("tz", {"tz": "Europe/Olso"}),
        ("tz", {"tz": None}),
        ("dst", {"dst": "quartz"}),
        ("missed", {"missed": "never"}),
        ("overlap", {"overlap": ["skip"]}),
        ("jitter", {"jitter": "soon"}),
        ("jitter", {"jitter": "2d"}),
        ("jitter", {"jitter": None}),
        ("catchup_window", {"catchup_window": "1s"}),
        ("starts_at", {"starts_at": datetime(2030, 1, 1)}),  # noqa: DTZ001  # naive, as tested
        ("ends_at", {"ends_at": "tomorrow"}),
        (
            "ends_at",
            {"starts_at": datetime(2030, 1, 1, tzinfo=UTC), "ends_at": datetime(2029, 1, 1, tzinfo=UTC)},
        ),
        ("pause_on_failure", {"pause_on_failure": "no"}),
        ("priority", {"priority": 8}),
        ("name", {"name": "two words"}),
        ("payload", {"payload": [1]}),
        ("payload.user_id", {"payload": {}}),
        ("payload.user_id", {"payload": {"user_id": "x"}}),
        ("payload.other", {"payload": {"user_id": 1, "other": 2}}),
    ],
)
def test_a_mistake_is_named_by_its_field_where_it_is_made(
    shop: Shop, field: str, options: dict[str, Any]
) -> None:
    """And nothing is declared."""
    given = {
        "name": "nightly",
        "cron": "30 2 * * *",
        "job": shop.report,
        "payload": {"user_id": 1},
        **options,
    }
    with pytest.raises(InvalidInput) as raised:
        shop.app.schedule(**given)
    assert raised.value.field == field
    assert len(shop.app.schedules) == 0


def test_a_name_is_declared_once_in_an_app(shop: Shop) -> None:
    """Other apps have names of their own."""
    shop.app.schedule("nightly", "30 2 * * *", shop.bare)
    with pytest.raises(InvalidInput, match="name: must be declared once"):
        shop.app.schedule("nightly", "0 3 * * *", shop.bare)
    assert shop.declared["nightly"].timing.cron == "30 2 * * *"
    other = Fencepost("postgresql://nowhere")
    other.schedule("nightly", "0 3 * * *", other.job(bare))
    assert len(other.schedules) == 1


def test_a_schedule_makes_jobs_of_its_own_app(shop: Shop) -> None:
    """Neither another's, nor those of a function that no worker knows."""
    elsewhere = Fencepost("postgresql://nowhere").job("elsewhere")(bare)
    for job in (elsewhere, elsewhere.request(), bare, "bare"):
        with pytest.raises(InvalidInput, match="job: must be a job type of this app"):
            shop.app.schedule("nightly", "30 2 * * *", job)  # type: ignore[arg-type]  # what is tested


def test_a_request_has_its_payload(shop: Shop) -> None:
    """Two would be one too many."""
    with pytest.raises(InvalidInput, match="payload: must not be given"):
        shop.app.schedule("nightly", "30 2 * * *", shop.report.request(1), payload={"user_id": 1})


@pytest.mark.parametrize(
    "options",
    [
        {"delay": "10m"},
        {"run_at": datetime(2030, 1, 1, tzinfo=UTC)},
        {"key": "once"},
        {"effect_key": "once"},
        {"unique": Unique()},
        {"tx": object()},
        {"reason": "because"},
    ],
)
def test_options_that_only_one_submit_can_have_are_refused(shop: Shop, options: dict[str, Any]) -> None:
    """A schedule would repeat them, or leave them out without a word."""
    with pytest.raises(InvalidInput, match=f"^{min(options)}: must"):
        shop.app.schedule("nightly", "30 2 * * *", shop.bare.options(**options))


def test_a_type_with_unique_options_is_scheduled_without_them(shop: Shop) -> None:
    """Overlap takes their place, and the error says so."""
    with pytest.raises(InvalidInput, match="unique: must be None: `overlap`"):
        shop.app.schedule("nightly", "30 2 * * *", shop.alone)
    shop.app.schedule("nightly", "30 2 * * *", shop.alone.options(unique=None))
