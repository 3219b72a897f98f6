"""What no cron expression may say, and what the refusal tells to write instead."""

from typing import Any

import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.domain.recurrence import recurrence

FIELDS = "minute, hour, day-of-month, month, weekday"
DRAWN = "write the time itself"
NUMBERS = {
    "minute": "write a number from 0 to 59",
    "hour": "write a number from 0 to 23",
    "day": "write a number from 1 to 31",
    "month": "write a number from 1 to 12 or a name from JAN to DEC",
    "weekday": "write a number from 0 to 7 or a name from SUN to SAT",
}
REFUSED: list[tuple[Any, str]] = [
    # not five fields
    ("", "write an expression such as `30 2 * * MON-FRI`"),
    ("   ", "write an expression such as"),
    (None, "must be text"),
    (5, "must be text"),
    (b"* * * * *", "must be text"),
    (["* * * * *"], "must be text"),
    ("*", FIELDS),
    ("30 2 * *", FIELDS),
    ("0 0 12 * * *", "seconds are not a field"),
    ("0 0 12 * * * 2030", "seconds and years are not fields"),
    ("0 0 1 1 * 1 1 1", FIELDS),
    # aliases
    ("@reboot", "names no time"),
    ("@every 5m", "write `every 5m`"),
    ("@every", "write `every 90m`"),
    ("@fortnightly", "@yearly, @monthly, @weekly, @daily, @hourly"),
    ("@", "@yearly, @monthly"),
    ("@daily 5", "@yearly, @monthly"),
    ("@ daily", "@yearly, @monthly"),
    # numbers
    ("60 * * * *", NUMBERS["minute"]),
    ("-5 * * * *", NUMBERS["minute"]),
    ("+5 * * * *", NUMBERS["minute"]),
    ("1.5 * * * *", NUMBERS["minute"]),
    ("JAN * * * *", NUMBERS["minute"]),
    ("1,,2 * * * *", NUMBERS["minute"]),
    (",1 * * * *", NUMBERS["minute"]),
    ("1, * * * *", NUMBERS["minute"]),
    ("1- * * * *", NUMBERS["minute"]),
    ("1-2-3 * * * *", NUMBERS["minute"]),
    ("** * * * *", NUMBERS["minute"]),
    ("*-5 * * * *", NUMBERS["minute"]),
    ("/5 * * * *", NUMBERS["minute"]),
    ("* 24 * * *", NUMBERS["hour"]),
    ("0 0 0 * *", NUMBERS["day"]),
    ("0 0 32 * *", NUMBERS["day"]),
    ("0 0 1 0 *", NUMBERS["month"]),
    ("0 0 1 13 *", NUMBERS["month"]),
    ("0 0 1 JANUARY *", NUMBERS["month"]),
    ("0 0 1 MON *", NUMBERS["month"]),
    ("0 0 * * 8", NUMBERS["weekday"]),
    ("0 0 * * MONDAY", NUMBERS["weekday"]),
    ("0 0 * * 8#1", NUMBERS["weekday"]),
    # ranges
    ("50-10 * * * *", "write `50-59,0-10`"),
    ("0 22-4 * * *", "write `22-23,0-4`"),
    ("0 22-4/3 * * *", "write `22,1,4`"),
    ("0 23-0 * * *", "write `23,0`"),
    ("0 0 28-3 * *", "write `28-31,1-3`"),
    ("0 0 1 NOV-FEB *", "write `11-12,1-2`"),
    ("0 0 * * FRI-MON", "write `5-6,0-1`"),
    ("0 0 * * SAT-SUN", "write `6,0`"),
    ("0 0 * * 7-2", "write `0-2`"),
    # steps
    ("*/0 * * * *", "write a step from 1 to 60"),
    ("*/ * * * *", "write a step from 1 to 60"),
    ("*/-5 * * * *", "write a step from 1 to 60"),
    ("1/2/3 * * * *", "write a step from 1 to 60"),
    ("0-59/61 * * * *", "write a step from 1 to 60"),
    ("5/61 * * * *", "write a step from 1 to 60"),
    ("*/90 * * * *", "write `every 90m`"),
    ("0 */36 * * *", "write `every 36h`"),
    ("0 0 */40 * *", "write `every 40d`"),
    ("0 0 1 */18 *", "write a step from 1 to 12"),
    ("0 0 * * */14", "write `every 14d`"),
    (f"*/{'9' * 240} * * * *", "write a step from 1 to 60"),
    ("0 0 * * 7/2", "write `0` for Sunday"),
    # chance
    ("R R * * *", DRAWN),
    ("R/15 * * * *", DRAWN),
    ("r(0-5) * * * *", DRAWN),
    ("H * * * *", DRAWN),
    ("H(0-5) 3 * * *", DRAWN),
    ("0~30 * * * *", DRAWN),
    # signs that other programs know
    ("? * * * *", "write `*`"),
    ("0 0 ? * 1", "write `*`"),
    ("0 0 15W * *", "write days"),
    ("0 0 W15 * *", "write days"),
    ("0 0 LW * *", "write days"),
    ("0 0 L5 * *", "write `0 0 L * *`"),
    ("0 0 L-3 * *", "write `0 0 L * *`"),
    ("0 0 L/2 * *", "write `0 0 L * *`"),
    ("0 0 25-L * *", "write `0 0 L * *`"),
    ("L * * * *", "write `0 0 L * *`"),
    ("0 0 1 L *", "write `0 0 L * *`"),
    ("0 0 * * L", "write `FRI#4`"),
    ("0 0 * * 5L", "write `FRI#4`"),
    ("0 0 1 * L5", "write `FRI#4`"),
    ("0 0 1#1 * *", "write `MON#1,TUE#1`"),
    ("0 0 * * MON-FRI#1", "write `MON#1,TUE#1`"),
    ("0 0 * * #1", "write `MON#1,TUE#1`"),
    ("0 0 * * 1#", "write `MON#1,TUE#1`"),
    ("0 0 * * 1#0", "write `1#1` to `1#5`"),
    ("0 0 * * FRI#6", "write `FRI#1` to `FRI#5`"),
    # characters and sizes
    ("\u0663 * * * *", "must be plain ASCII"),
    ("\uff15 * * * *", "must be plain ASCII"),
    ("0\u00a00 * * *", "must be plain ASCII"),
    ("0\t0 * * *", "single spaces between the fields"),
    ("0 0 * * *\n", "single spaces between the fields"),
    ("0 0 * * *\x00", "must be plain ASCII"),
    ("\ud800", "must be plain ASCII"),
    ("*" + " " * 252 + "* * *", "256 characters"),
    ("5," * 1_000_000 + "5 * * * *", "256 characters"),
    ("9" * 5_000 + " * * * *", "256 characters"),
    ("9" * 240 + " * * * *", NUMBERS["minute"]),
    ("0" * 200 + "1 * * * *", NUMBERS["minute"]),
    ("0000001 * * * *", NUMBERS["minute"]),
    (f"*/{'0' * 200}5 * * * *", "write a step from 1 to 60"),
    (f"0 0 * * 1#{'0' * 200}1", "write `1#1` to `1#5`"),
    # dates that never come
    ("0 0 30 2 *", "names dates that never come"),
    ("* * 31 2 *", "names dates that never come"),
    ("0 0 31 4,6,9,11 *", "names dates that never come"),
    ("0 0 30,31 FEB */2", "names dates that never come"),
    ("0 0 */31 * 1#2", "names dates that never come"),
    ("0 0 */9 2 1#5", "names dates that never come"),
]


@pytest.mark.parametrize(("expression", "words"), REFUSED, ids=lambda value: repr(value)[:40])
def test_what_is_refused_says_what_to_write(expression: Any, words: str) -> None:
    """The field is cron, and the rule has the words."""
    with pytest.raises(InvalidInput) as caught:
        recurrence(expression)
    assert caught.value.field == "cron"
    assert words in caught.value.rule


@pytest.mark.parametrize(("expression", "words"), REFUSED, ids=lambda value: repr(value)[:40])
def test_what_is_refused_is_told_briefly(expression: Any, words: str) -> None:
    """However much was written."""
    with pytest.raises(InvalidInput) as caught:
        recurrence(expression)
    assert len(caught.value.rule) < 200


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("60 0 1 1 *", "minute `60`"),
        ("0 1,24 1 1 *", "hour `24`"),
        ("0 0 32/2 1 *", "day-of-month `32/2`"),
        ("0 0 1 5,feb-jan *", "month `feb-jan`"),
        ("0 0 1 1 1,MONDAY", "weekday `MONDAY`"),
    ],
)
def test_a_refusal_names_the_field_and_the_item(expression: str, kind: str) -> None:
    """As it was written."""
    with pytest.raises(InvalidInput) as caught:
        recurrence(expression)
    assert caught.value.rule.startswith(f"{kind}: ")


@pytest.mark.parametrize(
    "written", ["50-59,0-10 * * * *", "0 22,1,4 * * *", "0 0 * * 5-6,0-1", "0 0 * * 6,0"]
)
def test_what_a_refusal_tells_to_write_is_accepted(written: str) -> None:
    """Otherwise it would be no help."""
    assert recurrence(written).expression == written
