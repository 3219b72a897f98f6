"""What of our environment the server gets to see: no secrets, no PG variables, no language."""

import os

KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def server_environment() -> dict[str, str]:
    """Return the environment for the programs of PostgreSQL."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}
