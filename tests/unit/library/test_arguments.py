"""A handler's signature is its payload's schema, checked where the job is submitted."""

import enum
import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, cast
from uuid import UUID

import attrs
import msgspec
import pytest

from fencepost.application.signature import Signature, signature
from fencepost.domain.errors import InvalidInput
from fencepost.domain.values import decode, encode

NUMBER = UUID("12345678-1234-5678-1234-567812345678")
MOMENT = datetime(2030, 1, 2, 3, 4, 5, 678_901, tzinfo=timezone(timedelta(hours=2)))


class Colour(enum.Enum):
    """A choice."""

    RED = "red"


@dataclass
class Item:
    """A dataclass with one inside."""

    name: str
    due: datetime
    parts: "list[Item]" = field(default_factory=list)


@attrs.frozen
class Address:
    """An attrs class with a rule."""

    street: str
    number: int = attrs.field(default=1, validator=attrs.validators.ge(1))


class Point(NamedTuple):
    """A named tuple."""

    x: int
    y: int


class Options(TypedDict, total=False):
    """A typed dictionary."""

    loud: bool


def schema(annotation: Any, *default: Any) -> Signature:
    """The signature of a handler with one argument ``value``."""

    def handler(ctx: object, value: Any) -> None: ...

    handler.__annotations__["value"] = annotation
    handler.__defaults__ = default or None
    return signature(handler)


ROUND_TRIPS: list[tuple[Any, Any]] = [
    (int, 2**70),
    (float, 0.1),
    (str, "ø\u2028"),
    (bool, True),
    (bytes, b"\x00\xff"),
    (datetime, MOMENT),
    (date, date(2030, 1, 2)),
    (time, time(3, 4, tzinfo=UTC)),
    (timedelta, timedelta(hours=1, microseconds=1)),
    (UUID, NUMBER),
    (Decimal, Decimal("1.10")),
    (Colour, Colour.RED),
    (Item, Item("a", MOMENT, [Item("b", MOMENT)])),
    (Address, Address("Elm", 3)),
    (Point, Point(1, 2)),
    (Options, {"loud": True}),
    (int | None, None),
    (Item | None, Item("a", MOMENT)),
    (Literal["a", "b"], "b"),
    (list[list[int]], [[1], [], [2, 3]]),
    (tuple[int, str], (1, "x")),
    (set[str], {"a", "b", "c"}),
    (dict[str, list[UUID]], {"x": [NUMBER]}),
    (dict[int, bool], {5: True}),
    (Annotated[int, msgspec.Meta(ge=0)], 0),
    (Any, {"x": [1, None, "y"]}),
    (object, [1]),
]


@pytest.mark.parametrize(("annotation", "value"), ROUND_TRIPS)
def test_a_handler_gets_real_objects(annotation: Any, value: Any) -> None:
    """What was submitted arrives as it was, of the same type, through JSON text and back."""
    known = schema(annotation)
    text = encode("payload", known.payload((value,), {}), 10_000)
    assert known.bind(decode("payload", text)) == {"value": value}
    assert type(known.bind(decode("payload", text))["value"]) is type(value)


WRONG: list[tuple[Any, Any, str]] = [
    (int, "5", "payload.value"),
    (int, True, "payload.value"),
    (int, 1.0, "payload.value"),
    (str, 5, "payload.value"),
    (float, "1.0", "payload.value"),
    (bool, 1, "payload.value"),
    (int, None, "payload.value"),
    (datetime, "yesterday", "payload.value"),
    (UUID, "1234", "payload.value"),
    (Colour, "blue", "payload.value"),
    (Literal["a", "b"], "c", "payload.value"),
    (list[list[int]], [[1], [2, "x"]], "payload.value[1][1]"),
    (dict[str, int], {"a": "x"}, "payload.value.*"),
    (Item, {"name": "a"}, "payload.value"),
    (
        Item,
        {"name": "a", "due": MOMENT, "parts": [{"name": 1, "due": MOMENT}]},
        "payload.value.parts[0].name",
    ),
    (Address, {"street": "Elm", "number": 0}, "payload.value"),
    (Annotated[int, msgspec.Meta(ge=0)], -1, "payload.value"),
    (Any, object(), "payload.value"),
    (Any, {(1, 2): 3}, "payload.value"),
]


@pytest.mark.parametrize(("annotation", "value", "place"), WRONG)
def test_a_value_that_does_not_fit_is_refused_with_its_place(annotation: Any, value: Any, place: str) -> None:
    """Strictly: nothing is converted that only looks alike."""
    with pytest.raises(InvalidInput) as caught:
        schema(annotation).payload((value,), {})
    assert caught.value.field == place


def test_a_value_that_contains_itself_is_refused() -> None:
    """Not a crash."""
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(InvalidInput, match=r"payload\.value"):
        schema(Any).payload((ring,), {})


def test_sets_are_written_in_one_order() -> None:
    """A submit key compares requests: the same set has to be the same text in every process."""
    words = [f"w{number}" for number in range(50)]
    assert schema(set[str]).payload((set(words),), {}) == {"value": sorted(words)}


def named(ctx: object, first: int, second: str = "x", *, third: bool = False) -> None:
    """A handler with every kind of argument it may have."""


CALLS: list[tuple[tuple[Any, ...], dict[str, Any], dict[str, Any]]] = [
    ((1,), {}, {"first": 1}),
    ((1, "y"), {"third": True}, {"first": 1, "second": "y", "third": True}),
    ((), {"second": "y", "first": 1}, {"second": "y", "first": 1}),
]


@pytest.mark.parametrize(("args", "kwargs", "payload"), CALLS, ids=str)
def test_arguments_become_payload_by_name(
    args: tuple[Any, ...], kwargs: dict[str, Any], payload: dict[str, Any]
) -> None:
    """However they were given; those left at their default are left out, so that a later default can take effect."""
    assert signature(named).payload(args, kwargs) == payload


MISTAKES: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((), {}, "payload.first: is missing"),
    ((1,), {"fourth": 1}, "payload.fourth: is not an argument of the handler"),
    ((), cast(Any, {1: 2, "z": 3}), "payload.1: is not an argument of the handler"),
    ((1,), {"first": 1}, "payload.first: is given twice"),
    ((1, "x", True), {}, "payload: takes 2 positional arguments, not 3"),
    (("1",), {}, "payload.first: Expected `int`, got `str`"),
    ((1,), {"third": "yes"}, "payload.third: Expected `bool`, got `str`"),
]


@pytest.mark.parametrize(("args", "kwargs", "error"), MISTAKES, ids=str)
def test_a_call_that_does_not_fit_names_the_argument(
    args: tuple[Any, ...], kwargs: dict[str, Any], error: str
) -> None:
    """Missing, unknown, doubled, wrong."""
    with pytest.raises(InvalidInput) as caught:
        signature(named).payload(args, kwargs)
    assert str(caught.value) == error


def test_an_old_payload_may_lack_an_argument_that_has_a_default() -> None:
    """That is how a handler gets a new argument while old jobs are still waiting."""
    assert signature(named).bind({"first": 1}) == {"first": 1}


OLD: list[tuple[dict[str, Any], str]] = [
    ({"second": "x"}, "payload.first: is missing"),
    ({"first": 1, "gone": 2}, "payload.gone: is not an argument of the handler"),
    ({"first": "1"}, "payload.first: Expected `int`, got `str`"),
]


@pytest.mark.parametrize(("payload", "error"), OLD, ids=str)
def test_a_payload_that_does_not_fit_is_refused_at_run_time(payload: dict[str, Any], error: str) -> None:
    """Payloads may come over HTTP, or from an older version of the program."""
    with pytest.raises(InvalidInput) as caught:
        signature(named).bind(payload)
    assert str(caught.value) == error


def test_defaults_are_filled_in_where_uniqueness_depends_on_them() -> None:
    """Some by name, or all; what the caller gave stays."""
    known = signature(named)
    assert known.completed({"first": 1}, ("second",)) == {"first": 1, "second": "x"}
    assert known.completed({"first": 1, "second": "y"}, None) == {"first": 1, "second": "y", "third": False}


def test_handlers_may_be_wrapped() -> None:
    """The signature of what is inside counts."""

    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    assert logged(named) is not named
    with pytest.raises(InvalidInput, match=r"payload\.first"):
        signature(logged(named)).payload(("1",), {})
    assert signature(functools.partial(named, third=True)).payload((1,), {}) == {"first": 1}
