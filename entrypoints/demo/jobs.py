"""The demo's handler: the SHA-256 of one chunk of one file."""

import time
from hashlib import sha256
from pathlib import Path

from ...application.context import Context
from ..library.app import Fencepost

app = Fencepost()


class Poisoned(Exception):
    """This chunk can never be hashed."""


class NotYet(Exception):
    """This chunk fails on purpose the first times."""


@app.job(queue="demo")
def hash_chunk(
    ctx: Context,
    path: str,
    offset: int,
    length: int,
    fails: int = 0,
    poisoned: bool = False,
    lingers: float = 0,
) -> str:
    """Return the chunk's digest in hexadecimal.

    It fails ``fails`` times first, always when ``poisoned``, and takes ``lingers`` seconds longer than it needs.
    """
    if poisoned:
        raise Poisoned(path)
    if ctx.failures < fails:
        raise NotYet(f"failure {ctx.failures + 1} of {fails}")
    time.sleep(lingers)
    with Path(path).open("rb") as file:
        file.seek(offset)
        return sha256(file.read(length)).hexdigest()
