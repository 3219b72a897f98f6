"""A server for the moment: everything about it is gone afterwards."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .running import Running
from .server import EmbeddedPostgres


@contextmanager
def temporary_postgres(
    bindir: Path | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """Run a server over a data folder of its own and remove both.

    Raises what `EmbeddedPostgres.start` and `EmbeddedPostgres.remove` raise.
    """
    with tempfile.TemporaryDirectory(prefix="fencepost-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # the server's user may have to pass through
        server = EmbeddedPostgres(folder / "data", bindir, settings=settings or {})
        try:
            yield server.start()
        finally:
            server.remove()
