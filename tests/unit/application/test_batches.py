"""A batch as the library checks it: what its jobs have in common is checked and held once."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from fencepost.application.ports.runs import Run, Runs, runs
from fencepost.application.submitting import Alike, SubmitRequest, Unique, submission, submissions
from fencepost.domain.commands import Origin
from fencepost.domain.errors import InvalidItem
from fencepost.domain.retry import Constant

ORIGIN = Origin("user:test", "request-1")


def request(number: int = 0, **fields: Any) -> SubmitRequest:
    """One job."""
    return SubmitRequest(**{"type": "work", "payload": {"n": number}, **fields})


def checked(*requests: SubmitRequest) -> Runs:
    """A batch of them."""
    return submissions(requests, ORIGIN, "library")


def outcome(requests: Sequence[SubmitRequest]) -> object:
    """What checking them comes to: their submissions, or what is said of the first fault."""
    try:
        return list(submissions(requests, ORIGIN, "library"))
    except InvalidItem as error:
        return str(error), error.path


MIXED = [
    request(0),
    request(1),
    request(2, priority=6),
    request(3, key="k"),
    request(4, key="k2"),
    request(5, unique=Unique()),
    request(6, unique=Unique()),
    request(7, retry=Constant(timedelta(1))),
    request(8, retry=Constant(timedelta(1))),
]


def test_a_batch_is_what_its_requests_are_one_by_one() -> None:
    """In order, by index, by slice and from the end; with the keys and unique options of each."""
    batch, single = checked(*MIXED), [submission(one, ORIGIN, "library") for one in MIXED]
    assert list(batch) == single == [batch[index] for index in range(len(batch))]
    assert batch[2:8:2] == single[2:8:2]
    assert batch[-1] == single[-1]
    with pytest.raises(IndexError):
        batch[len(MIXED)]


def test_alike_jobs_are_one_run() -> None:
    """Only payloads are kept for each; jobs with keys or unique options stay by themselves."""
    assert [len(run.payloads) for run in checked(*MIXED).runs] == [2, 1, 1, 1, 1, 1, 2]
    assert [len(run.payloads) for run in checked(*map(request, range(1_000))).runs] == [1_000]


def test_any_submissions_can_be_read_as_runs() -> None:
    """A list of single ones gives the same runs."""
    batch = checked(*MIXED)
    assert list(Runs(runs(list(batch)))) == list(batch)
    assert runs(batch) is batch.runs


def test_an_empty_batch_is_empty() -> None:
    """No runs, no submissions."""
    assert (len(checked()), list(checked()), bool(checked())) == (0, [], False)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"priority": True}, "priority"),
        ({"priority": 1.0}, "priority"),
        ({"max_attempts": True}, "max_attempts"),
        ({"queue": "a b"}, "queue"),
        ({"delay": timedelta(-1)}, "delay"),
        ({"key": ""}, "key"),
        ({"payload": ["a list"]}, "payload"),
        ({"payload": {"n": float("nan")}}, "payload"),
    ],
)
def test_a_fault_after_good_ones_is_found(fields: dict[str, Any], field: str) -> None:
    """Also when the value equals a good one, as True equals 1."""
    good = [request(n, priority=1, max_attempts=1) for n in range(3)]
    with pytest.raises(InvalidItem, match=field) as caught:
        checked(*good, request(**{"priority": 1, "max_attempts": 1, **fields}))
    assert caught.value.index == 3


def test_a_run_makes_its_members_on_demand() -> None:
    """Each has its own payload and shares the rest."""
    [first] = checked(request())
    members = Run(first, ["{}", None])
    assert members[0] is first
    assert members[1].command.specification.payload is None


@pytest.mark.parametrize(
    "fields", [{}, {"priority": 7}, {"key": "k"}, {"unique": Unique()}, {"queue": "a b"}]
)
@pytest.mark.parametrize(
    "payloads", [[], [{"n": 1}], [{"n": 1}, {"n": 2}], [{}, {"n": float("nan")}], [[], {}]]
)
def test_alike_requests_are_checked_as_each_of_them_would_be(
    fields: dict[str, Any], payloads: list[Any]
) -> None:
    """The same submissions, or the same fault at the same index."""
    alike = Alike(request(**fields), payloads)
    one_by_one = [request(**{**fields, "payload": payload}) for payload in payloads]
    assert list(alike) == one_by_one
    assert list(alike[1:]) == one_by_one[1:]
    assert outcome(alike) == outcome(one_by_one)
