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


@pytest.mark.parametrize("name", ["poll", "reap_every"])
def test_a_period_is_above_zero(name: str) -> None:
    """One of no length would keep a processor and the database busy with nothing."""
    with pytest.raises(InvalidInput, match=f"{name}: must be above 0"):
        load({name: "0s"}, environment={})
