"""How many jobs may wait for slots, and which have waited too long."""

from collections.abc import Callable
from datetime import timedelta
from typing import cast

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fencepost.application.handlers import Handler
from fencepost.application.ports.job_store import ClaimedJob
from fencepost.application.worker.attempt import Attempt, Services
from fencepost.application.worker.prefetch import CREDIT, EARNED, MOST_TEXT, Line, Prefetch
from fencepost.domain.token import Token
from support.local_time import WALL, MovedTime

SLOTS, SAMPLES = 10, 80


def job(job_id: int = 1, lease: float = 30.0, payload: str | None = "{}") -> ClaimedJob:
    """A job that was claimed."""
    token, length = Token(job_id, 1, "claim"), timedelta(seconds=lease)
    return ClaimedJob(token, "work", "default", payload, 0, 5, None, length, "effect", WALL)


def attempt(claimed: ClaimedJob | None = None, sent: float = 0.0) -> Attempt:
    """An attempt whose claim was sent at a moment."""
    claimed = claimed or job()
    lease = claimed.lease.total_seconds()
    handler = Handler("work", "default", lambda _ctx: None)
    return Attempt(claimed, handler, cast(Services, None), lease, sent + lease, "default", sent)


@pytest.fixture
def time() -> MovedTime:
    """Time that the test moves."""
    return MovedTime()


@pytest.fixture
def line() -> Line:
    """Ten slots, and jobs with leases of 30 s whose claims are answered at once."""
    line = Line(SLOTS)
    line.claimed([job()], 0.0)
    return line


@pytest.fixture
def run(line: Line, time: MovedTime) -> Callable[..., None]:
    """Let handlers have a slot of the line for so many seconds, one after the other."""

    def run(seconds: float, times: int = SAMPLES) -> None:
        for _ in range(times):
            one = attempt()
            line.begun(one, time)
            time.pass_by(seconds)
            line.ended(one, time)

    return run


def test_nobody_may_wait_while_nothing_is_known(line: Line, run: Callable[..., None]) -> None:
    """A handful of handlers tells nothing yet."""
    assert line.most == 0
    run(0.001, 7)
    assert line.most == 0
    run(0.001, 1)
    assert line.most > 0


def test_as_many_may_wait_as_the_slots_get_through_in_a_moment(line: Line, run: Callable[..., None]) -> None:
    """Ten slots, 10 ms each: a hundred in a tenth of a second."""
    run(0.01)
    assert line.most == pytest.approx(100)


def test_less_than_one_job_in_a_moment_is_none(line: Line, run: Callable[..., None]) -> None:
    """Ten slots, a little more than a second each: nobody waits."""
    prefetch = Prefetch({"default": SLOTS})
    prefetch._lines["default"] = line
    run(1.1)
    assert 0 < line.most < 1
    assert (prefetch.most("default"), prefetch.room("default")) == (0, 0)


def test_one_long_run_stops_it(line: Line, run: Callable[..., None]) -> None:
    """An hour among microseconds weighs more than all of them; afterwards quick ones are believed by and by."""
    run(0.00001)
    assert line.most > 1_000
    run(3_600.0, 8)
    assert line.most < 1
    run(0.00001, 8 * 20)
    assert line.most < 1
    run(0.00001, 8 * 100)
    assert line.most > 1_000


@pytest.mark.parametrize(("lease", "most"), [(30.0, 100), (1.0, 100), (0.5, 50), (0.1, 10)])
def test_short_leases_shorten_the_moment(
    line: Line, run: Callable[..., None], lease: float, most: int
) -> None:
    """A tenth of the shortest lease of a claim's jobs is all the time there is."""
    run(0.01)
    line.claimed([job(lease=30.0), job(lease=lease), job(lease=30.0)], 0.0)
    assert line.most == pytest.approx(most)


def test_the_time_that_a_claim_takes_is_lost_for_waiting(line: Line, run: Callable[..., None]) -> None:
    """Leases begin when the claim is sent."""
    run(0.01)
    line.claimed([job(lease=1.0)], 0.06)
    assert line.most == pytest.approx(40)
    line.claimed([job(lease=1.0)], 0.2)
    assert line.most == 0


def test_large_payloads_let_fewer_wait(line: Line, run: Callable[..., None]) -> None:
    """One batch of large ones is enough; an erased payload is none."""
    run(0.0)
    line.claimed([job(payload="x" * 262_144)] * 4, 0.0)
    assert line.most == MOST_TEXT / 262_144
    for _ in range(100):
        line.claimed([job(payload=None)], 0.0)
    assert line.most == CREDIT


def test_what_has_waited_too_long_is_taken_out_wherever_it_stands(line: Line) -> None:
    """The order of those that go on waiting stays."""
    waiting = [attempt(job(number, lease)) for number, lease in enumerate((30.0, 1.0, 30.0, 10.0))]
    for one in waiting:
        line.wait(one)
    assert line.stale_at == pytest.approx(0.1)
    assert line.stale(0.09) == []
    assert line.stale(0.1) == [waiting[1]]
    assert line.stale_at == pytest.approx(1.0)
    assert line.stale(1.0) == [waiting[3]]
    assert list(line.waiting) == [waiting[0], waiting[2]]


def test_an_empty_line_is_never_looked_at(line: Line) -> None:
    """Also when its last job got a slot in time: there is nothing to wait for."""
    line.wait(attempt())
    line.waiting.popleft()
    assert line.stale_at == float("inf")
    assert line.stale(100.0) == []


def test_a_return_closes_the_line_until_handlers_begin_and_end(
    line: Line, run: Callable[..., None], time: MovedTime
) -> None:
    """What was measured before is forgotten, also of those that run."""
    run(0.01)
    stuck = [attempt() for _ in range(16)]
    for one in stuck:
        line.begun(one, time)
    line.wait(attempt())
    assert len(line.stale(3.0)) == 1
    assert line.most == 0
    for one in stuck:
        line.ended(one, time)
    assert line.most == 0
    run(0.01)
    assert line.most > 0


def test_nothing_late_forgets_nothing(line: Line, run: Callable[..., None]) -> None:
    """A look at jobs that are in time leaves the line open; whose soonest got its slot, the next is looked for."""
    run(0.01)
    line.wait(attempt(job(lease=1.0)))
    line.wait(attempt())
    line.waiting.popleft()
    assert line.stale(0.5) == []
    assert line.stale_at == pytest.approx(3.0)
    assert line.most == pytest.approx(100)


@given(st.lists(st.tuples(st.integers(0, 3_000), st.floats(0, 0.2)), max_size=60))
def test_returns_stay_below_a_share_of_what_begins(rounds: list[tuple[int, float]]) -> None:
    """Whatever handlers do: the worst case is that all who may wait go back, again and again."""
    time, line, begun, returned = MovedTime(), Line(SLOTS), 0, 0
    line.claimed([job()], 0.0)
    for handlers, seconds in rounds:
        for _ in range(handlers):
            one = attempt()
            line.begun(one, time)
            time.pass_by(seconds)
            line.ended(one, time)
        begun += handlers
        for _ in range(int(line.most)):
            line.wait(attempt(sent=time.monotonic()))
        time.pass_by(3.1)
        returned += len(line.stale(time.monotonic()))
        assert returned <= CREDIT + EARNED * (begun + 8)


def test_each_queue_has_a_line_of_its_own() -> None:
    """What waits for one is not in the way of another, and one can be cleared alone."""
    prefetch = Prefetch({"mail": 1, "default": 2})
    mail, other = attempt(), evolve(attempt(), slots="mail")
    prefetch.line("mail").wait(mail)
    prefetch.line("default").wait(other)
    assert len(prefetch) == 2
    assert prefetch.room("mail") == -1
    assert prefetch.stale_at == pytest.approx(3.0)
    assert prefetch.clear("mail") == [mail]
    assert prefetch.clear() == [other]
    assert (len(prefetch), prefetch.stale_at) == (0, float("inf"))
