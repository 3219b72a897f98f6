"""A place for an embedded server, left clean."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.adapters.embedded import EmbeddedPostgres
from support.places import passable_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of its own that the server's user can pass through."""
    with passable_folder() as path:
        yield path


@pytest.fixture
def datadir(folder: Path) -> Iterator[Path]:
    """A data folder to be; whatever server is left over it is stopped."""
    yield folder / "data"
    EmbeddedPostgres(folder / "data").stop()
