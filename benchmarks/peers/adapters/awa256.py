"""awa with max_workers 256, as in its own benchmark script: above this comparison's limit of 100, listed apart."""

from adapters import awa


class Peer(awa.Peer):
    """The same, but for its workers."""

    name = "awa-256"
    scenarios = ("drain",)
    settings = "as awa, but max_workers 256"


def main(profile: str) -> None:
    """Run one worker."""
    awa.WORKERS = 256
    awa.main(profile)
