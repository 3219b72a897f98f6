"""Claim ids as PostgreSQL writes them."""

from functools import lru_cache
from uuid import UUID


@lru_cache(maxsize=1_000)
def known_form(claim_id: str) -> str | None:
    """Return a claim id that can be one of ours; None, which matches nothing, for any other text."""
    try:
        return claim_id if str(UUID(claim_id)) == claim_id else None
    except ValueError:
        return None
