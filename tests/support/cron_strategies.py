"""Hypothesis strategies for cron expressions, with a liking for the hours at which clocks change."""

from hypothesis import strategies as st

MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAY_NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
Texts = st.SearchStrategy[str]


def _field(low: int, high: int, end: int | None = None, names: tuple[str, ...] = ()) -> Texts:
    """A field of values from low to high; steps of one value end at ``end``."""
    end = high if end is None else end
    values = st.integers(low, high)
    texts = values.map(str)
    if names:
        texts |= st.sampled_from(names).flatmap(
            lambda name: st.sampled_from([name, name.upper(), name.title()])
        )
    ranges = st.tuples(values, values).map(sorted).map(lambda pair: f"{pair[0]}-{pair[1]}")
    steps = st.integers(1, end - low)
    stepped = st.builds("{}/{}".format, ranges | st.integers(low, end).map(str), steps)
    lists = st.lists(texts | ranges | stepped, min_size=1, max_size=3).map(",".join)
    return lists | steps.map("*/{}".format) | st.just("*")


def _or_star(field: Texts) -> Texts:
    return st.just("*") | field


MINUTES = st.sampled_from(["0", "30", "0,30", "59", "*/15", "*"]) | _field(0, 59)
HOURS = st.sampled_from(["0", "1", "2", "3", "2-3", "0-4", "*/2", "*"]) | _field(0, 23)
DATES = _field(1, 31)
MONTHS = _or_star(_field(1, 12, names=tuple(MONTH_NAMES)))
WEEKDAYS = _field(0, 7, end=6, names=tuple(DAY_NAMES))
STARS = st.sampled_from(["*", "*", "*/2"])

LAST = st.just("L") | st.lists(st.integers(1, 31).map(str), min_size=1, max_size=2).map(
    lambda days: ",".join([*days, "L"])
)
NTH = st.lists(
    st.builds(
        "{}#{}".format, st.integers(0, 7).map(str) | st.sampled_from([*DAY_NAMES, "SUN"]), st.integers(1, 5)
    ),
    min_size=1,
    max_size=3,
).map(",".join)

plain = st.tuples(MINUTES, HOURS, _or_star(DATES), MONTHS, _or_star(WEEKDAYS)).map(" ".join)
"""For both judges."""
dayed = (st.tuples(MINUTES, HOURS, LAST, MONTHS, STARS) | st.tuples(MINUTES, HOURS, STARS, MONTHS, NTH)).map(
    " ".join
)
"""With ``L`` or ``#``, and nothing that the product may refuse."""
united = (
    st.tuples(MINUTES, HOURS, LAST, MONTHS, WEEKDAYS | NTH) | st.tuples(MINUTES, HOURS, DATES, MONTHS, NTH)
).map(" ".join)
"""With ``L`` or ``#`` and another restricted day field, most of the time."""
