"""Sets of numbers in words: ``9 to 17``, ``every 2nd from 1 to 59``, ``1, 3 and 7``."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def ordinal(number: int) -> str:
    """Return ``1st``, ``2nd``, ``11th``."""
    return f"{number}{'th' if 10 < number % 100 < 14 else _ENDINGS.get(number % 10, 'th')}"


def joined(texts: Sequence[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


def runs(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of consecutive numbers in ascending ones."""
    start = 0
    for index, value in enumerate(values, 1):
        if index == len(values) or values[index] != value + 1:
            yield values[start], value
            start = index


def spans(values: Sequence[int], name: Callable[[int], str]) -> list[str]:
    """Return ascending numbers by name, three or more consecutive ones as ``a to b``."""
    texts: list[str] = []
    for first, last in runs(values):
        if last - first >= 2:
            texts.append(f"{name(first)} to {name(last)}")
        else:
            texts.extend(name(value) for value in range(first, last + 1))
    return texts


def stride(values: Sequence[int]) -> int:
    """Return the one distance between four or more ascending numbers, 0 when there is none or it is 1."""
    steps = {later - earlier for earlier, later in pairwise(values)}
    return steps.pop() if len(values) >= 4 and len(steps) == 1 and steps != {1} else 0
