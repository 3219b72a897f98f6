"""What the driver may change about a scenario."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """``jobs`` replaces each scenario's own number; times are seconds."""

    jobs: int | None = None
    profile: str = "best"
    limit: float = 120
    crash_limit: float = 150
    pinned_seconds: float = 60
