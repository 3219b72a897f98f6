"""What an app takes from the settings."""

import pytest

from fencepost.entrypoints.container import assemble
from fencepost.entrypoints.settings import load


@pytest.mark.parametrize("pooler", [True, False])
def test_a_pooler_is_known_to_synchronous_submits_too(pooler: bool) -> None:
    """They, too, must not prepare statements behind one."""
    container = assemble(load({"pooler": str(pooler)}, environment={}), "postgresql://nowhere")
    assert container.sync_submitter()._database.connector.pooled is pooler
    assert container.database().connector.pooled is pooler
