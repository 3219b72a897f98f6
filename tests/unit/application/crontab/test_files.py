"""Files as editors, systems and accidents leave them."""

import pytest

from fencepost.application.crontab.lines import FILE_CHARACTERS, LINES
from fencepost.application.crontab.reading import read_crontab
from fencepost.domain.errors import InvalidInput

ENTRY = "0 0 * * * x"


def test_an_empty_file_says_nothing() -> None:
    """It is a crontab all the same."""
    found = read_crontab("")
    assert (found.entries, found.refusals, found.notes) == ((), (), ())


def test_a_last_line_without_its_end_counts_and_is_noted() -> None:
    """Cron passes over it, which few have meant."""
    found = read_crontab(f"{ENTRY}\n{ENTRY}")
    assert [entry.line for entry in found.entries] == [1, 2]
    assert [note.line for note in found.notes] == [2]


def test_a_last_comment_without_its_end_needs_no_note() -> None:
    """It says nothing in any case."""
    assert read_crontab(f"{ENTRY}\n# end").notes == ()


def test_the_cr_of_foreign_line_ends_is_dropped_and_noted_once() -> None:
    """Commands and values would end in it."""
    found = read_crontab(f"A=b\r\n\r\n{ENTRY}\r\n{ENTRY}\r\n")
    assert [(entry.line, entry.command, entry.environment) for entry in found.entries] == [
        (3, "x", {"A": "b"}),
        (4, "x", {"A": "b"}),
    ]
    assert [note.line for note in found.notes] == [1]
    assert found.refusals == ()


def test_the_mark_that_some_editors_put_first_is_dropped() -> None:
    """The first line is read as it looks."""
    assert len(read_crontab(f"\ufeff{ENTRY}\n").entries) == 1


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_a_line_feed_ends_a_line(character: str) -> None:
    """Other characters that end lines elsewhere belong to the command."""
    found = read_crontab(f"{ENTRY}{character}{ENTRY}\n")
    assert [entry.command for entry in found.entries] == [f"x{character}{ENTRY}"]


def test_as_many_lines_as_debian_takes_are_read() -> None:
    """One more, and the file is refused as a whole."""
    assert read_crontab("\n" * LINES).entries == ()
    with pytest.raises(InvalidInput, match="10000 lines"):
        read_crontab("\n" * (LINES + 1))


def test_a_file_that_is_too_large_is_refused_as_a_whole() -> None:
    """Whatever is in it."""
    with pytest.raises(InvalidInput, match=r"^crontab: must have at most"):
        read_crontab("#" * (FILE_CHARACTERS + 1))


def test_the_largest_file_of_one_comment_is_read_at_once() -> None:
    """Comments are looked at only so far."""
    assert read_crontab("#" * FILE_CHARACTERS).format == "user"


def test_an_unknown_default_zone_is_the_callers_mistake() -> None:
    """No line can be blamed for it."""
    with pytest.raises(InvalidInput, match=r"^tz: "):
        read_crontab(ENTRY, tz="Mars/Olympus")


def test_notes_come_in_the_order_of_the_file() -> None:
    """Whatever they are about."""
    found = read_crontab(
        "MAILTO=ops\n0 0 * * * root x\nRANDOM_DELAY=5\n0 0 * * * nobody cat%in", format="system"
    )
    assert [note.line for note in found.notes] == [1, 3, 4, 4]
