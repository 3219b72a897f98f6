"""Names that nobody else has."""

from fencepost.adapters.system.identity import new_claim_id, new_worker_id
from fencepost.domain.values import check_text


def test_two_starts_are_two_workers() -> None:
    """A host name alone would let a restarted worker pass for its predecessor."""
    first, second = new_worker_id(), new_worker_id()
    assert first != second
    assert first.startswith("worker:")
    check_text("worker", first)


def test_claim_ids_do_not_repeat() -> None:
    """A thousand of them are a thousand."""
    assert len({new_claim_id() for _ in range(1_000)}) == 1_000
