"""JSON values: what gets in comes out unchanged, what could not is refused by name."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.application.submitting import _compact
from fencepost.domain.errors import InvalidInput
from fencepost.domain.limits import ERROR_BYTES, NESTING, PAYLOAD_BYTES
from fencepost.domain.values import check_json, cleaned, decode, encode

good_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
any_text = st.text(st.characters())
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | good_text
)
good_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(good_text, inner, max_size=5)
)
odd_leaves = (
    st.floats() | any_text | st.binary() | st.sets(st.integers()) | st.complex_numbers() | st.decimals()
)
any_values = st.recursive(
    leaves | odd_leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(any_text | st.integers(), inner, max_size=4)
    ),
)


@given(good_values)
def test_a_value_survives_text(value: object) -> None:
    """Encoding and decoding gives back the same value, of the same types."""
    again = decode("payload", encode("payload", value, PAYLOAD_BYTES))
    assert again == value
    assert repr(again) == repr(value)


@given(any_values)
def test_whatever_is_encoded_can_be_stored(value: object) -> None:
    """Any Python value is either refused as invalid input or becomes strict JSON that PostgreSQL can hold."""
    try:
        text = encode("payload", value, PAYLOAD_BYTES)
    except InvalidInput:
        return
    text.encode()
    assert "\\u0000" not in text.replace("\\\\", "")
    assert json.loads(text, parse_constant=pytest.fail) == json.loads(json.dumps(value))


@given(any_text | st.binary())
def test_no_text_breaks_the_decoder(text: str | bytes) -> None:
    """Arbitrary text or bytes decode to a storable value or are refused, never anything else."""
    try:
        value = decode("payload", text)
    except InvalidInput:
        return
    check_json("payload", value)


@pytest.mark.parametrize("depth", [NESTING, NESTING + 1, 1_000, 20_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_ends_at_64(depth: int, opening: str, closing: str) -> None:
    """64 levels are accepted, any deeper text is refused, however deep."""
    text = opening * depth + ("1" if opening != "[" else "") + closing * depth
    if depth <= NESTING:
        assert decode("payload", text)
        return
    with pytest.raises(InvalidInput, match="payload"):
        decode("payload", text)


def test_a_circular_value_is_refused() -> None:
    """A list that contains itself is nested too deeply, not an endless loop."""
    circular: list[Any] = []
    circular.append(circular)
    with pytest.raises(InvalidInput, match="deeper than 64"):
        encode("payload", circular, PAYLOAD_BYTES)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":"x\\u0000y"}',
        '{"x\\u0000":1}',
        '{"a":"\\ud800"}',
        '{"\\udc00":1}',
        '{"a":NaN}',
        '{"a":Infinity}',
        '{"a":-Infinity}',
        '{"a":1e400}',
        '{"a":1,"a":2}',
        '{"b":{"a":1,"a":1}}',
        "{",
        "",
        "{'a':1}",
        '{"a":' + "9" * 5_000 + "}",
    ],
)
def test_what_a_reader_could_not_get_back_is_refused(text: str) -> None:
    """NUL, lone surrogates, numbers without end and repeated keys name the payload and change nothing."""
    with pytest.raises(InvalidInput, match=r"^payload"):
        decode("payload", text)


@pytest.mark.parametrize(
    "text",
    ['{"a":"\\\\u0000"}', '{"a":"😀"}', '{"n":9007199254740993,"m":-9223372036854775809}', '{"z":-0.0}'],
)
def test_unusual_but_legal_text_round_trips_byte_for_byte(text: str) -> None:
    """Escaped backslashes, characters beyond the first plane and large integers keep every digit."""
    assert encode("payload", decode("payload", text), PAYLOAD_BYTES) == text


def test_a_surrogate_pair_is_one_character() -> None:
    """An escaped pair is the character it stands for."""
    assert decode("payload", '"\\ud83d\\ude00"') == "😀"


@given(any_text, st.integers(0, 40))
def test_cleaned_text_can_always_be_stored(text: str, most: int) -> None:
    """The failing path can write any text: bad characters are replaced, the rest is cut to the limit."""
    kept = cleaned(text, most)
    assert len(kept.encode()) <= most
    assert "\0" not in kept
    assert cleaned(kept, most) == kept
    if len(text.encode(errors="replace")) <= most and "\0" not in text and not _has_surrogates(text):
        assert kept == text


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize("text", ["a\x00b", "x\ud800", "é" * ERROR_BYTES, "\0" * ERROR_BYTES])
def test_an_error_text_is_bounded_and_storable(text: str) -> None:
    """Exception texts that no database stores become some that every one does."""
    assert 0 < len(cleaned(text, ERROR_BYTES).encode()) <= ERROR_BYTES


@pytest.mark.parametrize("size", [PAYLOAD_BYTES, PAYLOAD_BYTES + 1])
def test_the_limit_counts_bytes(size: int) -> None:
    """The payload limit is one of UTF-8 bytes of JSON, quotes included."""
    text = "é" * ((size - 2) // 2) + "a" * (size % 2)
    if size <= PAYLOAD_BYTES:
        assert encode("payload", text, PAYLOAD_BYTES)
        return
    with pytest.raises(InvalidInput, match="at most 262144 bytes"):
        encode("payload", text, PAYLOAD_BYTES)


def test_the_path_to_a_bad_value_is_exact_whatever_the_keys_hold() -> None:
    """Dots and brackets in keys do not blur which value is meant."""
    with pytest.raises(InvalidInput) as caught:
        decode("payload", '{"a.b":[{},{"c[0]":1e400}]}')
    assert caught.value.path == ("payload", "a.b", 1, "c[0]")
    assert caught.value.field == "payload.a.b[1].c[0]"


def test_a_long_key_is_not_copied_for_each_value_below_it() -> None:
    """A megabyte-long key above half a million values is walked as fast as a short one."""
    text = json.dumps({"k" * 1_000_000: [1] * 500_000})
    assert len(decode("body", text)) == 1


def test_the_depth_of_the_outermost_value_can_be_given() -> None:
    """A payload inside a request may be as deep as one that stands alone."""
    payload = "[" * NESTING + "]" * NESTING
    assert decode("body", f'{{"payload":{payload}}}', depth=0)
    with pytest.raises(InvalidInput):
        decode("body", f'{{"payload":{payload}}}')


@given(any_values)
def test_the_quick_look_refuses_what_the_walk_refuses(value: object) -> None:
    """What is encoded without walking is what the walk lets through, and a fault is told in the walk's words."""

    def outcome(look: Callable[[], object]) -> object:
        try:
            return look()
        except InvalidInput as refused:
            return str(refused)

    def walk() -> object:
        check_json("payload", value)
        return json.loads(json.dumps(value))

    walked = outcome(walk)
    quick = outcome(lambda: json.loads(encode("payload", value, PAYLOAD_BYTES)))
    assert quick == walked


@given(any_values)
def test_another_encoder_changes_no_byte(value: object) -> None:
    """The faster encoder that submits use writes what the standard library's does, and refuses the same."""

    def outcome(*compact: Any) -> str:
        try:
            return encode("payload", value, PAYLOAD_BYTES, *compact)
        except InvalidInput as refused:
            return f"refused: {refused}"

    assert outcome(_compact) == outcome()
