"""A cron expression as one English sentence, made from the sets of numbers that it names."""

from functools import lru_cache
from zoneinfo import ZoneInfo

from .cron_day_words import days_in_words
from .cron_fields import Fields
from .series import joined, ordinal, runs, spans, stride
from .wall_clock import DAY, Dst, Stretch, minute_of_year, stretch_at

_LISTED = 6
"""More times of day than this are told by their hours and minutes."""
_SAMPLE = 2030
"""The year whose turns of the clock tell which times of day they meet: a rule shows in any year to come."""
_TURNED = {
    Dst.VIXIE: "; a time that the clock skips runs right after the gap, a repeated time only at its first pass",
    Dst.WALL: "; a time that the clock skips is left out, a repeated time runs twice",
}


def sentence(fields: Fields, zone: ZoneInfo, dst: Dst) -> str:
    """Return the sentence; it tells the policy where the zone's clock skips or repeats one of the times of day."""
    turned = _TURNED[dst] if not fields.real_time and _meets_a_turn(fields, zone) else ""
    return f"{_times(fields)}{days_in_words(fields)}, {zone.key}{turned}"


def _times(fields: Fields) -> str:
    minutes, hours = sorted(fields.minutes), sorted(fields.hours)
    step = 60 // len(minutes)
    if len(minutes) > 2 and minutes == list(range(0, 60, step)):
        every = "Every minute" if step == 1 else f"Every {step} minutes"
        return every + _within(hours, minutes[-1])
    times = fields.minutes_of_day()
    if len(times) <= _LISTED:
        return f"At {joined([_clock(time) for time in times])}"
    of_hours = "every hour" if len(hours) == 24 else _numbers("hour", hours)
    return f"At {_numbers('minute', minutes)} of {of_hours}"


def _within(hours: list[int], last_minute: int) -> str:
    if len(hours) == 24:
        return ""
    if stride(hours):
        return f" of {_numbers('hour', hours)}"
    return " " + joined([f"from {_clock(a * 60)} to {_clock(b * 60 + last_minute)}" for a, b in runs(hours)])


def _clock(minute_of_day: int) -> str:
    return f"{minute_of_day // 60:02}:{minute_of_day % 60:02}"


def _numbers(unit: str, values: list[int]) -> str:
    if step := stride(values):
        return f"every {ordinal(step)} {unit} from {values[0]} to {values[-1]}"
    return f"{unit}{'s' * (len(values) > 1)} {joined(spans(values, str))}"


def _meets_a_turn(fields: Fields, zone: ZoneInfo) -> bool:
    times = fields.minutes_of_day()
    return any((time - first) % DAY < length for first, length in _turns(zone) for time in times)


@lru_cache(maxsize=1024)
def _turns(zone: ZoneInfo) -> tuple[tuple[int, int], ...]:
    """Return the wall clock's first minute, and how many follow, of each gap and fold of the sample year.

    Found once per zone: a list of schedules has a sentence for each.
    """
    found: list[tuple[int, int]] = []
    at, end = minute_of_year(_SAMPLE), minute_of_year(_SAMPLE + 1)
    while at < end:
        stretch = stretch_at(zone, at)
        if at == stretch.start:
            found.append(_turn(stretch))
        at = stretch.end
    return tuple(found)


def _turn(stretch: Stretch) -> tuple[int, int]:
    first, last = sorted((stretch.start + stretch.before, stretch.start + stretch.offset))
    return first, last - first
