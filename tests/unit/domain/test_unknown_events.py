"""Events that a newer version wrote can be read, shown and folded by this one."""

import pickle

import pytest
from attrs import evolve

from fencepost.domain.evolve import fold
from fencepost.domain.vocabulary import ControlEventName, EventName
from support.histories import Story


@pytest.mark.parametrize("names", [EventName, ControlEventName])
def test_any_text_is_the_name_of_an_event(names: type[EventName] | type[ControlEventName]) -> None:
    """An unknown name keeps its text, equals no known one, and is none of the members."""
    unknown = names("archived")
    assert (str(unknown), unknown.value, unknown == "archived") == ("archived", "archived", True)
    assert unknown not in list(names)
    assert pickle.loads(pickle.dumps(unknown)) == unknown


def test_a_known_text_is_the_member() -> None:
    """Names read from a database can be compared by identity."""
    assert EventName("claimed") is EventName.CLAIMED
    assert ControlEventName("queue_paused") is ControlEventName.QUEUE_PAUSED


def test_a_name_is_text() -> None:
    """Whatever is not text is refused."""
    with pytest.raises(ValueError, match="3 is not a valid EventName"):
        EventName(3)  # type: ignore[arg-type]


def test_an_unknown_event_moves_a_job_by_what_every_event_carries() -> None:
    """Seq and failures follow the event, everything else stays; its cause is not known."""
    story = Story().submit().claim()
    unknown = evolve(story.events[-1], name=EventName("suspended"), seq=3, failures=1)
    assert fold([*story.events, unknown]) == evolve(story.job, seq=3, failures=1)
    assert unknown.caused_by is None
