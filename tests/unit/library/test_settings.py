"""What an app takes from the settings."""

import pytest

from fencepost import InvalidInput
from fencepost.entrypoints.container import assemble
from fencepost.entrypoints.settings import load


@pytest.mark.parametrize("pooler", [True, False])
def test_a_pooler_is_known_to_synchronous_submits_too(pooler: bool) -> None:
    """They, too, must not prepare statements behind one."""
    container = assemble(load({"pooler": str(pooler)}, environment={}), "postgresql://nowhere")
    assert container.sync_submitter()._database.connector.pooled is pooler
    assert container.database().connector.pooled is pooler


def test_slots_follow_the_last_colon() -> None:
    """A name may contain colons when its number is there; without one it would be taken for a mistyped number."""
    slots = load({"queues": "mail:20, default,eu:mail:3"}, environment={}).queues
    assert slots == {"mail": 20, "default": 10, "eu:mail": 3}
    for wrong in ("eu:mail", "mail:-1", "mail:1.5"):
        with pytest.raises(
            InvalidInput, match="queues: must have a whole number of slots after the last colon"
        ):
            load({"queues": wrong}, environment={})


def test_slots_that_are_written_otherwise_are_told_the_form() -> None:
    """As other tools write them, say."""
    with pytest.raises(
        InvalidInput, match=r"queues: must be names and slots such as mail:20.* and 'mail=3' is no"
    ):
        load({"queues": "mail=3"}, environment={})


@pytest.mark.parametrize("name", ["poll", "reap_every"])
def test_a_period_is_above_zero(name: str) -> None:
    """One of no length would keep a processor and the database busy with nothing."""
    with pytest.raises(InvalidInput, match=f"{name}: must be above 0"):
        load({name: "0s"}, environment={})
