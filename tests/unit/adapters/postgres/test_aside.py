"""What is set aside comes back by itself."""

from attrs import define

from fencepost.adapters.postgres.aside import AWHILE, Aside


@define
class Seconds:
    """A clock that moves when it is told to."""

    now: float = 0.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


def test_what_is_set_aside_comes_back_after_a_while() -> None:
    """Each by itself, and others never were."""
    seconds = Seconds()
    aside = Aside[str](seconds)
    aside.put("first")
    seconds.now = AWHILE / 2
    aside.put("second")
    assert [one in aside for one in ("first", "second", "third")] == [True, True, False]
    seconds.now = AWHILE
    assert list(aside) == ["second"]


def test_what_is_set_aside_again_stays_longer() -> None:
    """It has failed once more."""
    seconds = Seconds()
    aside = Aside[str](seconds)
    aside.put("one")
    seconds.now = AWHILE - 1
    aside.put("one")
    seconds.now = AWHILE + 1
    assert "one" in aside
