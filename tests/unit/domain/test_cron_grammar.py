"""What the five fields may say, and which numbers it stands for."""

import pytest

from fencepost.domain.cron_fields import Fields, canonical, read_fields

ALL = set(range(60))


def minutes(text: str) -> set[int]:
    """The minutes that a minute field names."""
    return set(read_fields(f"{text} * * * *").minutes)


def days(text: str) -> Fields:
    """The fields of an expression at midnight on certain days."""
    return read_fields(f"0 0 {text}")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("*", ALL),
        ("0", {0}),
        ("05", {5}),
        ("59", {59}),
        ("1,2,2,1", {1, 2}),
        ("9-9", {9}),
        ("7-10", {7, 8, 9, 10}),
        ("0-59", ALL),
        ("*/15", {0, 15, 30, 45}),
        ("*/40", {0, 40}),
        ("*/60", {0}),
        ("*/1", ALL),
        ("10-20/4", {10, 14, 18}),
        ("5-5/3", {5}),
        ("50/4", {50, 54, 58}),
        ("59/15", {59}),
        ("0/30", {0, 30}),
        ("1,5-7,*/30,58/1", {0, 1, 5, 6, 7, 30, 58, 59}),
    ],
)
def test_a_field_is_a_list_of_numbers_ranges_and_steps(text: str, named: set[int]) -> None:
    """Ranges with equal ends are one number; ``n/s`` goes on to the field's end."""
    assert minutes(text) == named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("JAN", {1}),
        ("dec", {12}),
        ("Mar-mAY", {3, 4, 5}),
        ("*/4", {1, 5, 9}),
        ("11/1", {11, 12}),
        ("jun,JUL", {6, 7}),
    ],
)
def test_months_have_names_and_start_at_one(text: str, named: set[int]) -> None:
    """In any case; steps count from January."""
    assert days(f"1 {text} *").months == named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("0", {0}),
        ("7", {0}),
        ("sun", {0}),
        ("MON-FRI", {1, 2, 3, 4, 5}),
        ("5-7", {5, 6, 0}),
        ("0-7", {0, 1, 2, 3, 4, 5, 6}),
        ("7-7", {0}),
        ("1/2", {1, 3, 5}),
        ("1-7/2", {1, 3, 5, 0}),
        ("*/2", {0, 2, 4, 6}),
        ("*/7", {0}),
        ("sat,WED", {3, 6}),
    ],
)
def test_weekdays_have_names_and_two_numbers_for_sunday(text: str, named: set[int]) -> None:
    """0 and 7 are Sunday; steps without an end stop at Saturday."""
    assert days(f"* * {text}").weekdays == named


@pytest.mark.parametrize(
    ("text", "plain", "last"),
    [
        ("L", set(), True),
        ("l", set(), True),
        ("15,L", {15}, True),
        ("L,1-3", {1, 2, 3}, True),
        ("31", {31}, False),
    ],
)
def test_the_last_day_of_a_month_stands_alone_or_in_a_list(text: str, plain: set[int], last: bool) -> None:
    """It is kept apart from the numbers."""
    fields = days(f"{text} * *")
    assert (set(fields.days), fields.last_day) == (plain, last)


@pytest.mark.parametrize(
    ("text", "plain", "nth"),
    [
        ("1#1", set(), {(1, 1)}),
        ("7#5", set(), {(0, 5)}),
        ("fri#3", set(), {(5, 3)}),
        ("1#1,1#3", set(), {(1, 1), (1, 3)}),
        ("TUE,MON#2", {2}, {(1, 2)}),
    ],
)
def test_the_nth_weekdays_of_a_month_may_be_listed(
    text: str, plain: set[int], nth: set[tuple[int, int]]
) -> None:
    """By number or name, beside plain weekdays, too."""
    fields = days(f"* * {text}")
    assert (set(fields.weekdays), set(fields.nth_weekdays)) == (plain, nth)


@pytest.mark.parametrize(
    ("text", "either"),
    [
        ("13 * 5", True),
        ("L * 1#1", True),
        ("1-31 * 5", True),
        ("5,* * 5", True),
        ("* * 5", False),
        ("13 * *", False),
        ("*/2 * 1", False),
        ("13 * */2", False),
        ("*,5 * 1", False),
    ],
)
def test_one_of_two_day_fields_is_enough_unless_one_starts_with_a_star(text: str, either: bool) -> None:
    """``*/2`` starts with a star, too."""
    assert days(text).either_day is either


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("30 2", False),
        ("0-59 0-23", False),
        ("1,* 2", False),
        ("* 2", True),
        ("5 */2", True),
        ("*/5 *", True),
    ],
)
def test_a_star_in_minutes_or_hours_means_real_time(text: str, real: bool) -> None:
    """What matters is how the field starts, not what it names."""
    assert read_fields(f"{text} * * *").real_time is real


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("30 2 * * *", "30 2 * * *"),
        ("  30   2 *  * MON-fri ", "30 2 * * MON-FRI"),
        ("05 00 01 jan,feb *", "5 0 1 JAN,FEB *"),
        ("000-030/05 */02 l * sun#01", "0-30/5 */2 L * SUN#1"),
        ("00,10,007 0 * * *", "0,10,7 0 * * *"),
        ("@daily", "@daily"),
        (" @Daily ", "@daily"),
        ("@midnight", "@daily"),
        ("@ANNUALLY", "@yearly"),
        ("@yearly", "@yearly"),
        ("@Monthly", "@monthly"),
        ("@weekly", "@weekly"),
        ("@hourly", "@hourly"),
    ],
)
def test_an_expression_is_stored_in_one_way(text: str, stored: str) -> None:
    """Single spaces, no leading zeros, names in capitals; aliases in lower case, by the more usual of two names."""
    assert canonical(text) == stored
    assert canonical(stored) == stored
    read_fields(stored)


@pytest.mark.parametrize(
    ("alias", "fields"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
    ],
)
def test_aliases_stand_for_five_fields(alias: str, fields: str) -> None:
    """The usual ones."""
    assert read_fields(alias) == read_fields(fields)


def test_the_times_of_day_are_all_pairs_of_hours_and_minutes() -> None:
    """In minutes since midnight, ascending."""
    assert read_fields("30,0 9,17 * * *").minutes_of_day() == [540, 570, 1020, 1050]
