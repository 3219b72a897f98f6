"""What a worker can be told."""

from datetime import timedelta
from typing import Any

import pytest

from fencepost.application.worker.settings import WorkerSettings
from fencepost.domain.errors import InvalidInput


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queues": {}}, "queues: must name at least one queue"),
        ({"queues": {"mail": 0}}, "queues.mail: must be a whole number from 1"),
        ({"queues": {"a b": 1}}, "queues: must match"),
        ({"heartbeat": timedelta(seconds=10.1)}, "heartbeat: must be above 0 and at most a third"),
        ({"heartbeat": timedelta(0)}, "heartbeat: must be above 0"),
        ({"worker": "x\x00"}, "worker: must not contain NUL"),
        ({"max_unreported": 0}, "max_unreported: must be a whole number"),
        ({"batch": 0}, "batch: must be a whole number"),
    ],
)
def test_what_cannot_work_is_refused(change: dict[str, Any], message: str) -> None:
    """The message names the field and the rule."""
    with pytest.raises(InvalidInput, match=message):
        WorkerSettings(**{"worker": "worker:a", "queues": {"default": 1}, **change})


def test_defaults_are_those_of_the_documentation() -> None:
    """Drain grace 30 s, fallback poll 1 s, heartbeat a third of the lease."""
    settings = WorkerSettings(worker="worker:a", queues={"default": 1})
    assert (settings.drain_grace, settings.fallback_poll, settings.heartbeat) == (
        timedelta(seconds=30),
        timedelta(seconds=1),
        None,
    )
