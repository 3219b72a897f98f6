"""The days that a cron expression names, as the part of a sentence that follows the times."""

from .cron_fields import Fields
from .series import joined, ordinal, spans, stride

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_COUNTS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}


def days_in_words(fields: Fields) -> str:
    """Return words such as `` on Monday to Friday``, empty where every day goes without saying."""
    dates, weekdays = _dates(fields), _weekdays(fields)
    months = "" if len(fields.months) == 12 else _months(sorted(fields.months))
    if _every_day(fields):
        often = "" if len(fields.hours) == 24 else " every day"
        return often + (f" in {months}" if months else "")
    if not weekdays:
        return f" on {dates} of {months or 'the month'}"
    if not dates:
        return f" on {_of(weekdays, fields, months)}"
    link = "or on" if fields.either_day else "and only on"
    both = f" on {dates} of the month {link} {_of(weekdays, fields, '')}"
    return both + (f", in {months}" if months else "")


def _every_day(fields: Fields) -> bool:
    whole = len(fields.days) == 31, len(fields.weekdays) == 7
    return any(whole) if fields.either_day else all(whole)


def _of(weekdays: str, fields: Fields, months: str) -> str:
    if fields.nth_weekdays:
        return f"{weekdays} of {months or 'the month'}"
    return weekdays + (f" in {months}" if months else "")


def _dates(fields: Fields) -> str:
    """Return the days of the month in words, empty when that is all of them."""
    days = sorted(fields.days)
    if len(days) == 31:
        return ""
    if step := stride(days):
        texts = [f"every {ordinal(step)} day from the {ordinal(days[0])} to the {ordinal(days[-1])}"]
    else:
        texts = spans(days, lambda day: f"the {ordinal(day)}")
    return joined([*texts, *["the last day"] * fields.last_day])


def _weekdays(fields: Fields) -> str:
    """Return the weekdays in words, empty when that is all of them."""
    if len(fields.weekdays) == 7:
        return ""
    plain = spans(sorted((day - 1) % 7 for day in fields.weekdays), lambda day: _WEEKDAYS[day])
    nth = sorted((n, (day - 1) % 7) for day, n in fields.nth_weekdays)
    return joined([*plain, *(f"the {_COUNTS[n]} {_WEEKDAYS[day]}" for n, day in nth)])


def _months(months: list[int]) -> str:
    if step := stride(months):
        first, last = _MONTHS[months[0] - 1], _MONTHS[months[-1] - 1]
        return f"every {ordinal(step)} month from {first} to {last}"
    return joined(spans(months, lambda month: _MONTHS[month - 1]))
