"""The fencing token: which claim of which job is speaking."""

from typing import NamedTuple


class Token(NamedTuple):
    """The right to report on one attempt; ``attempt`` grows with each claim, ``claim_id`` names the claim call.

    ``claim_id`` tells apart two grants of the same attempt number after an asynchronous failover forgot one.
    """

    job_id: int
    attempt: int
    claim_id: str
