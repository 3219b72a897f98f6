"""Real processes over a real database, killed, frozen and cut off; what they leave behind has to hold."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.roles import Role, role_of
from support.site import Site, site_over


@pytest.fixture(scope="session", params=["server18", pytest.param("server15", marks=pytest.mark.long)])
def server(request: pytest.FixtureRequest) -> str:
    """The address of the embedded server; that of the machine's own in the long tier, too."""
    address: str = request.getfixturevalue(request.param)
    return address


@pytest.fixture
def site(database: str, tmp_path: Path) -> Iterator[Site]:
    """Workers and schedulers to be, over a database of the test's own."""
    with site_over(database, tmp_path) as site:
        yield site


@pytest.fixture
def role(server: str) -> Iterator[Role]:
    """A role for one of the processes."""
    with role_of(server) as role:
        yield role
