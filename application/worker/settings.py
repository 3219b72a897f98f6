"""What a worker is told before it starts."""

from collections.abc import Mapping
from datetime import timedelta

from attrs import field, frozen

from ...domain.errors import InvalidInput
from ...domain.limits import LEASE_DEFAULT
from ...domain.values import check_integer, check_name, check_text

HEARTBEATS_PER_LEASE = 3


def _check_queues(_owner: object, _attribute: object, value: Mapping[str, int]) -> None:
    if not value:
        raise InvalidInput("queues", "must name at least one queue")
    for name, slots in value.items():
        check_integer(f"queues.{check_name('queues', name)}", slots, 1, 100_000)


def _check_heartbeat(owner: "WorkerSettings", _attribute: object, value: timedelta | None) -> None:
    if value is not None and not timedelta(0) < value <= owner.lease / HEARTBEATS_PER_LEASE:
        raise InvalidInput("heartbeat", "must be above 0 and at most a third of the lease")


@frozen(kw_only=True)
class WorkerSettings:
    """``queues`` maps each queue to its slots; ``worker`` is unique per process start.

    ``heartbeat`` None means a third of the shortest lease held. ``stop_grace`` is how long a handler that was told to
    stop is waited for before its job is reported without it. ``max_unreported`` bounds results without a verdict:
    above it nothing new is claimed.
    """

    worker: str
    queues: Mapping[str, int] = field(validator=_check_queues)
    build: str | None = None
    lease: timedelta = LEASE_DEFAULT
    heartbeat: timedelta | None = field(default=None, validator=_check_heartbeat)
    drain_grace: timedelta = timedelta(seconds=30)
    stop_grace: timedelta = timedelta(seconds=5)
    fallback_poll: timedelta = timedelta(seconds=1)
    max_unreported: int = 4_000
    batch: int = 1_000

    def __attrs_post_init__(self) -> None:
        """Check the rest."""
        check_text("worker", self.worker)
        check_integer("max_unreported", self.max_unreported, 1, 1_000_000)
        check_integer("batch", self.batch, 1, 10_000)
