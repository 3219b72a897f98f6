"""Who this process is."""

import os
import socket
from uuid import uuid4


def new_worker_id() -> str:
    """Return a name that no other start of any worker process has, on this or another machine."""
    return f"worker:{socket.gethostname()[:64]}-{os.getpid()}-{uuid4().hex[:12]}"


def new_claim_id() -> str:
    """Return a random id for one claim call, written as a UUID; made without one, which takes longer."""
    digits = os.urandom(16).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
