"""Real processes over a real database, killed, frozen and cut off; what they leave behind has to hold."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.roles import Role, role_of
from support.site import Site, site_over

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the machine's own server to the long tier: one server a test is enough for the usual run."""
    for item in items:
        if HERE in item.path.parents and isinstance(item, pytest.Function) and _server(item) == "pg15":
            item.add_marker(pytest.mark.long)


def _server(item: pytest.Function) -> object:
    return item.callspec.params.get("server") if hasattr(item, "callspec") else None


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
