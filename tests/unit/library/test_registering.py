"""Registering handlers: what can be one, and what is refused at once."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, Protocol, TypeVar

import pytest

from fencepost import BadHandler, Context, Fencepost, HandlerClash, InvalidInput, InvalidItem, Unique
from fencepost.entrypoints.library.job_type import JobType

T = TypeVar("T")


class Custom:
    """Something JSON knows nothing of."""


async def coroutine(ctx: Context, number: int) -> None:
    """A handler for the event loop."""


def plain(ctx: Context, number: int) -> None:
    """A handler for threads."""


@pytest.fixture
def app() -> Fencepost:
    """An app that never connects."""
    return Fencepost("postgresql://nowhere")


def test_a_handler_is_named_after_its_function(app: Fencepost) -> None:
    """With parentheses, without, and under a name of its own."""
    app.job(coroutine)
    app.job()(plain)
    app.job("mail:plain")(plain)
    assert set(app.handlers.types) == {"coroutine", "plain", "mail:plain"}


def test_coroutine_functions_run_on_the_loop_and_plain_ones_in_threads(app: Fencepost) -> None:
    """Unless the executor is named, and then it must fit."""
    app.job(coroutine)
    app.job(
        plain,
    )
    app.job("again", executor="thread")(plain)
    assert [handler.executor for handler in app.handlers] == ["async", "thread", "thread"]
    for executor, function in (("async", plain), ("thread", coroutine), ("fibre", plain)):
        with pytest.raises(InvalidInput, match="executor"):
            app.job("other", executor=executor)(function)  # type: ignore[call-overload]  # what is tested
    assert len(list(app.handlers)) == 3


def test_a_job_type_can_be_called_like_its_function(app: Fencepost) -> None:
    """For tests of the function itself; nothing is submitted."""

    @app.job
    def double(ctx: Context, number: int) -> int:
        return 2 * number

    assert double(None, 4) == 8  # type: ignore[arg-type]  # it does not look at its context
    assert repr(double).startswith("JobType(name='double'")
    assert {double: 1}[double] == 1


def test_a_type_has_one_handler(app: Fencepost) -> None:
    """A second one under the same name is a mistake."""
    app.job(coroutine)
    with pytest.raises(HandlerClash, match="coroutine"):
        app.job("coroutine")(plain)


@pytest.mark.parametrize("name", ["", "no spaces", "x" * 129, "ø"])
def test_names_follow_the_rule_for_types(app: Fencepost, name: str) -> None:
    """As everywhere else."""
    with pytest.raises(InvalidInput, match="type: must match"):
        app.job(name)(plain)


def test_a_function_without_a_name_needs_one(app: Fencepost) -> None:
    """A partial has none."""
    part = functools.partial(plain, number=1)
    with pytest.raises(InvalidInput, match="type"):
        app.job(part)
    app.job("part")(part)
    assert set(app.handlers.types) == {"part"}


def no_context() -> None:
    """Takes nothing."""


def forgotten(number: int) -> None:
    """Forgot the context."""


def listed(numbers: list[int], text: str = "") -> None:
    """Forgot it before a list."""


def optional(number: int | None = None) -> None:
    """Forgot it before what may be left out."""


def keyword_context(*, ctx: Context) -> None:
    """Takes its context by name only."""


def variadic(ctx: Context, *numbers: int) -> None:
    """Takes any number."""


def open_ended(ctx: Context, **numbers: int) -> None:
    """Takes anything."""


def positional(ctx: Context, number: int, /) -> None:
    """Takes an argument without a name."""


def generator(ctx: Context) -> Iterator[int]:
    """Runs only when somebody iterates."""
    yield 1


async def stream(ctx: Context) -> AsyncIterator[int]:
    """Runs only when somebody iterates."""
    yield 1


def unresolved(ctx: Context, number: "Missing") -> None:  # type: ignore[name-defined]  # noqa: F821  what is tested
    """Names a class that is not there."""


def broken(ctx: Context, number: "int |") -> None:  # type: ignore[valid-type]  # noqa: F722  what is tested
    """Has an annotation that is no expression."""


def custom(ctx: Context, thing: Custom) -> None:
    """Wants what JSON cannot hold."""


def nested(ctx: Context, things: dict[str, list[Custom]]) -> None:
    """Wants it inside."""


def ambiguous(ctx: Context, when: datetime | str) -> None:
    """Could not tell one text from the other."""


def called_back(ctx: Context, then: Callable[[], None]) -> None:
    """Wants code."""


NO_HANDLERS = [
    no_context,
    forgotten,
    listed,
    optional,
    keyword_context,
    variadic,
    open_ended,
    positional,
    generator,
    stream,
    unresolved,
    broken,
    custom,
    nested,
    ambiguous,
    called_back,
]


@pytest.mark.parametrize("function", NO_HANDLERS, ids=lambda function: function.__name__)
def test_what_cannot_be_a_handler_is_refused_when_it_is_registered(app: Fencepost, function: Any) -> None:
    """Not when its first job runs, at night; the error names the function."""
    with pytest.raises(BadHandler, match=function.__name__):
        app.job(function)
    assert list(app.handlers) == []


def test_what_is_no_function_is_refused(app: Fencepost) -> None:
    """A class instance that cannot be called, a builtin without a signature."""
    nothing: Any
    for nothing in (5, {}, dict):
        with pytest.raises((BadHandler, InvalidInput)):
            app.job("x")(nothing)
    assert list(app.handlers) == []


def test_only_the_payloads_annotations_are_looked_at(app: Fencepost) -> None:
    """The context's may name what only type checkers import, and so may the answer's."""

    def handler(ctx: "OnlyTypeCheckers", number: "int") -> "Nowhere":  # type: ignore[name-defined]  # noqa: F821
        ...

    job: JobType[...] = app.job(handler)
    assert job.request(1).payload == {"number": 1}
    with pytest.raises(InvalidInput, match=r"payload\.number"):
        job.request("x")


class Narrow(Protocol):
    """What one handler wants to know of its context."""

    job_id: int


def test_a_context_may_be_annotated_as_whatever_it_is(app: Fencepost) -> None:
    """The class, a protocol, an optional one, something wider, or nothing."""

    def wide(ctx: object) -> None: ...
    def anything(ctx: Any) -> None: ...
    def narrow(ctx: Narrow) -> None: ...
    def perhaps(ctx: Context | None) -> None: ...
    def noted(ctx: Annotated[Context, "the attempt"]) -> None: ...
    def bare(ctx) -> None: ...  # type: ignore[no-untyped-def]  # what is tested

    functions: list[Any] = [wide, anything, narrow, perhaps, noted, bare]
    for function in functions:
        app.job(function)
    assert len(app.handlers.types) == 6


def test_a_failed_registration_leaves_nothing(app: Fencepost) -> None:
    """The name stays free."""
    with pytest.raises(BadHandler):
        app.job("work")(custom)
    app.job("work")(plain)


def test_many_requests_are_those_made_one_by_one(app: Fencepost) -> None:
    """Arguments by name from any iterable, whatever the options; later changes to them change nothing."""

    @app.job(unique=Unique(fields=["number"]))
    def double(ctx: Context, number: int = 0, note: str = "") -> None: ...

    calls: list[dict[str, Any]] = [{"number": 1}, {}, {"note": "x", "number": 2}]
    made = double.options(priority=7).requests(iter(calls))
    assert list(made) == [double.options(priority=7).request(**call) for call in calls]
    calls[0]["number"] = 3
    assert made[0].payload == {"number": 1}


@pytest.mark.parametrize("bad", [{"number": "1"}, {}, {"number": 1, "other": 2}, [1], None])
def test_a_bad_one_of_many_requests_is_named_by_its_index(app: Fencepost, bad: Any) -> None:
    """A wrong argument, a missing one, an unknown one, and what is no arguments by name at all."""
    with pytest.raises(InvalidItem, match="payload") as caught:
        app.job(coroutine).requests([{"number": 0}, bad])
    assert caught.value.index == 1


def test_many_requests_take_no_options_of_the_call(app: Fencepost) -> None:
    """They would be dropped silently."""
    with pytest.raises(InvalidInput, match="actor: must be given to submit_many"):
        app.job(coroutine).options(actor="user:ann").requests([])
