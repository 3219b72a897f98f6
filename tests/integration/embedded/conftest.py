"""A place for an embedded server, left clean."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.adapters.embedded import EmbeddedPostgres


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of its own that the server's user can pass through."""
    path = Path(tempfile.mkdtemp(prefix="fencepost-embedded-")).resolve()
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def datadir(folder: Path) -> Iterator[Path]:
    """A data folder to be; whatever server is left over it is stopped."""
    yield folder / "data"
    EmbeddedPostgres(folder / "data").stop()
