"""How long to wait for a database that is away."""

from hypothesis import given
from hypothesis import strategies as st

from fencepost.application.worker.backoff import LONGEST, Backoff


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=40, max_size=40))
def test_waits_grow_to_a_bound_and_never_vanish(draws: list[float]) -> None:
    """B202: Whatever is drawn, three loops together stay below five tries a second."""
    drawn = iter(draws)
    backoff = Backoff(lambda: next(drawn))
    waits = [backoff.failed() for _ in draws]
    assert all(0.375 <= wait <= LONGEST for wait in waits)
    assert all(wait >= LONGEST * 0.75 for wait in waits[3:])
    assert 3 * len(waits) / sum(waits) < 5


def test_an_answer_starts_over() -> None:
    """The next outage is met with short waits again."""
    backoff = Backoff(lambda: 0.0)
    first, *_ = [backoff.failed() for _ in range(5)]
    backoff.answered()
    assert backoff.failed() == first


def test_ten_thousand_failures_do_not_overflow() -> None:
    """A weekend without a database is survived."""
    backoff = Backoff(lambda: 0.5, tries=10_000)
    assert backoff.failed() <= LONGEST
