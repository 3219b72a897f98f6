"""The end of a stream, within bounds."""

import pytest

from fencepost.adapters.shell.tail import Tail


def fed(*chunks: bytes, most: int = 10) -> Tail:
    """A tail that has been written to."""
    tail = Tail(most)
    for chunk in chunks:
        tail.data_received(chunk)
    return tail


def test_what_fits_is_kept_whole() -> None:
    """In however many pieces it came."""
    assert fed(b"one ", b"two").text(10) == "one two"


def test_the_last_bytes_are_kept_and_all_are_counted() -> None:
    """Of one large piece and of many small ones."""
    for chunks in ([b"x" * 100 + b"end"], [b"x"] * 100 + [b"e", b"n", b"d"]):
        tail = fed(*chunks)
        assert (tail.text(10), tail.text(3), tail.bytes) == ("xxxxxxxend", "end", 103)


@pytest.mark.parametrize("most", range(1, 12))
def test_text_has_never_more_bytes_than_asked_for(most: int) -> None:
    """Not even where broken characters are replaced by longer ones, or one is cut in two."""
    for written in (b"\xff" * 20, "äöü€".encode() * 5, b"\xf0\x9f" * 9):
        text = fed(written, most=20).text(most)
        assert len(text.encode()) <= most


def test_the_end_of_the_stream_is_noted() -> None:
    """Whoever waits for it goes on."""
    tail = fed(b"x")
    assert not tail.ended.is_set()
    tail.connection_lost(None)
    assert tail.ended.is_set()
