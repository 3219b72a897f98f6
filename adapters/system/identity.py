"""Who this process is."""

import os
import socket
from uuid import uuid4


def new_worker_id() -> str:
    """Return a name that no other start of any worker process has, on this or another machine."""
    return f"worker:{socket.gethostname()[:64]}-{os.getpid()}-{uuid4().hex[:12]}"


def new_claim_id() -> str:
    """Return a random id for one claim call."""
    return str(uuid4())
