"""Cron expressions in words."""

import pytest

from fencepost.domain.recurrence import Dst, recurrence
from fencepost.domain.series import joined, ordinal, runs, spans, stride

ONCE = "; a time that the clock skips runs right after the gap, a repeated time only at its first pass"
WALL = "; a time that the clock skips is left out, a repeated time runs twice"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        # times of day
        ("* * * * *", "Every minute"),
        ("*/15 * * * *", "Every 15 minutes"),
        ("0-59/20 * * * *", "Every 20 minutes"),
        ("*/40 * * * *", "At minutes 0 and 40 of every hour"),
        ("*/30 * * * *", "At minutes 0 and 30 of every hour"),
        ("*/25 * * * *", "At minutes 0, 25 and 50 of every hour"),
        ("5 * * * *", "At minute 5 of every hour"),
        ("1-5,30 * * * *", "At minutes 1 to 5 and 30 of every hour"),
        ("1-59/2 * * * *", "At every 2nd minute from 1 to 59 of every hour"),
        ("5-59/13 * * * *", "At every 13th minute from 5 to 57 of every hour"),
        ("30 2 * * *", "At 02:30 every day"),
        ("0 0,12 * * *", "At 00:00 and 12:00 every day"),
        ("0,30 9,12,17 * * *", "At 09:00, 09:30, 12:00, 12:30, 17:00 and 17:30 every day"),
        ("0 9-17 * * *", "At minute 0 of hours 9 to 17 every day"),
        ("0 */2 * * *", "At minute 0 of every 2nd hour from 0 to 22 every day"),
        ("0,30 8,12,16,20 * * *", "At minutes 0 and 30 of every 4th hour from 8 to 20 every day"),
        ("* 2 * * *", "Every minute from 02:00 to 02:59 every day"),
        ("*/10 9-17 * * *", "Every 10 minutes from 09:00 to 17:50 every day"),
        ("* 2,3,5 * * *", "Every minute from 02:00 to 03:59 and from 05:00 to 05:59 every day"),
        ("* */2 * * *", "Every minute of every 2nd hour from 0 to 22 every day"),
        # dates
        ("0 0 1 * *", "At 00:00 on the 1st of the month"),
        ("0 0 1,15 * *", "At 00:00 on the 1st and the 15th of the month"),
        ("0 0 1-5,22 * *", "At 00:00 on the 1st to the 5th and the 22nd of the month"),
        ("0 0 */2 * *", "At 00:00 on every 2nd day from the 1st to the 31st of the month"),
        ("0 0 L * *", "At 00:00 on the last day of the month"),
        ("0 0 L,15 * *", "At 00:00 on the 15th and the last day of the month"),
        ("0 0 25 12 *", "At 00:00 on the 25th of December"),
        ("0 0 1 1-3 *", "At 00:00 on the 1st of January to March"),
        ("0 0 1 */3 *", "At 00:00 on the 1st of every 3rd month from January to October"),
        ("0 0 1 JAN,JUL *", "At 00:00 on the 1st of January and July"),
        ("0 0 * 6 *", "At 00:00 every day in June"),
        ("* * * 6 *", "Every minute in June"),
        # weekdays
        ("0 0 * * 0", "At 00:00 on Sunday"),
        ("0 0 * * 1-5", "At 00:00 on Monday to Friday"),
        ("0 0 * * 0,6", "At 00:00 on Saturday and Sunday"),
        ("0 0 * * 5-7", "At 00:00 on Friday to Sunday"),
        ("0 0 * * 1,3,5", "At 00:00 on Monday, Wednesday and Friday"),
        ("5 * * 6 1", "At minute 5 of every hour on Monday in June"),
        ("0 0 * * 1#1", "At 00:00 on the first Monday of the month"),
        (
            "0 0 * * 5#3,1#1,1#5",
            "At 00:00 on the first Monday, the third Friday and the fifth Monday of the month",
        ),
        ("0 0 * 6,7 TUE,MON#2", "At 00:00 on Tuesday and the second Monday of June and July"),
        # both
        ("0 0 13 * 5", "At 00:00 on the 13th of the month or on Friday"),
        (
            "0 0 L 6 5#2",
            "At 00:00 on the last day of the month or on the second Friday of the month, in June",
        ),
        (
            "0 0 */2 * 1",
            "At 00:00 on every 2nd day from the 1st to the 31st of the month and only on Monday",
        ),
        ("0 0 13 * */5", "At 00:00 on the 13th of the month and only on Friday and Sunday"),
        ("0 0 1-31 * 5", "At 00:00 every day"),
        ("0 0 13 * 0-6", "At 00:00 every day"),
        ("0 0 * * 0-7", "At 00:00 every day"),
        ("0 0 1-31 * *", "At 00:00 every day"),
        # aliases
        ("@yearly", "At 00:00 on the 1st of January"),
        ("@monthly", "At 00:00 on the 1st of the month"),
        ("@weekly", "At 00:00 on Sunday"),
        ("@daily", "At 00:00 every day"),
        ("@hourly", "At minute 0 of every hour"),
    ],
)
def test_an_expression_is_one_sentence(expression: str, words: str) -> None:
    """About what it means, however it was written."""
    assert recurrence(expression).words() == f"{words}, UTC"


@pytest.mark.parametrize(
    ("expression", "tz", "matters"),
    [
        ("30 2 * * *", "Europe/Oslo", True),
        ("0 2 * * *", "Europe/Oslo", True),
        ("0 3 * * *", "Europe/Oslo", False),
        ("59 1 * * *", "Europe/Oslo", False),
        ("0 12,2 * * 1-5", "Europe/Oslo", True),
        ("30 1 * * *", "America/New_York", True),
        ("30 3 * * *", "America/New_York", False),
        ("45 1 * * *", "Australia/Lord_Howe", True),
        ("15 1 * * *", "Australia/Lord_Howe", False),
        ("15 3 * * *", "Pacific/Chatham", True),
        ("30 2 * * *", "Asia/Tokyo", False),
        ("30 2 * * *", "UTC", False),
        ("*/30 2 * * *", "Europe/Oslo", False),
        ("30 */2 * * *", "Europe/Oslo", False),
    ],
)
def test_the_policy_is_told_where_it_matters(expression: str, tz: str, matters: bool) -> None:
    """Where the zone's clock skips or repeats a time of day of an expression without a star in minutes and hours."""
    once, wall = (recurrence(expression, tz, dst).words() for dst in (Dst.VIXIE, Dst.WALL))
    assert once.endswith(f", {tz}{ONCE if matters else ''}")
    assert wall.endswith(f", {tz}{WALL if matters else ''}")


def test_ordinals_end_as_people_say_them() -> None:
    """11th to 13th are the odd ones."""
    numbers = (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 24, 31)
    assert " ".join(map(ordinal, numbers)) == "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 24th 31st"


def test_numbers_in_a_row_are_told_as_one() -> None:
    """From three on; two are told one by one."""
    values = [1, 2, 3, 5, 6, 9]
    assert list(runs(values)) == [(1, 3), (5, 6), (9, 9)]
    assert joined(spans(values, str)) == "1 to 3, 5, 6 and 9"
    assert joined(["one"]) == "one"


@pytest.mark.parametrize(
    ("values", "step"),
    [([0, 5, 10, 15], 5), ([0, 5, 10], 0), ([0, 1, 2, 3], 0), ([0, 5, 10, 16], 0), ([], 0), ([7], 0)],
)
def test_an_even_stride_takes_four_numbers(values: list[int], step: int) -> None:
    """Fewer are as quickly told one by one."""
    assert stride(values) == step
