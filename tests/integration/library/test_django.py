"""Django's ``transaction.atomic``."""

import importlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from fencepost import Context, Fencepost, InvalidInput
from fencepost.entrypoints.library.job_type import JobType

django = pytest.importorskip("django")
db: Any = importlib.import_module("django.db")


@pytest.fixture
def connection(emptied: str) -> Iterator[Any]:
    """Django's default connection."""
    settings = importlib.import_module("django.conf").settings
    connections = db.connections

    if not settings.configured:
        settings.configure(DATABASES={}, LOGGING_CONFIG=None)
        django.setup()
    place = urlsplit(emptied)
    parameters = {
        "HOST": place.hostname,
        "PORT": place.port,
        "USER": place.username,
        "PASSWORD": place.password,
    }
    connections.settings = connections.configure_settings(
        {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": place.path.lstrip("/"), **parameters}}
    )
    yield connections["default"]
    connections["default"].close()
    del connections["default"]


@pytest.fixture
def work(emptied: str) -> Iterator[JobType[...]]:
    """A job type of a synchronous program."""
    app = Fencepost(emptied)

    @app.job
    def work(ctx: Context, number: int) -> None: ...

    yield work
    app.close_sync()


def stored(connection: Any) -> int:
    """How many jobs there are."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM fencepost.jobs")
        return int(cursor.fetchone()[0])


def test_a_job_commits_with_the_atomic_block(connection: Any, work: JobType[...]) -> None:
    """It is there after the block; django.db.connection, the proxy everybody imports, will do."""
    with db.transaction.atomic():
        work.options(tx=db.connection, key="k").submit_sync(1)
    assert stored(connection) == 1


def test_a_job_vanishes_with_the_atomic_block(connection: Any, work: JobType[...]) -> None:
    """Also when only an inner block is rolled back; what the outer one submitted stays."""

    def fail(key: str) -> None:
        with db.transaction.atomic():
            work.options(tx=connection, key=key).submit_sync(1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail("all")
    assert stored(connection) == 0
    with db.transaction.atomic():
        work.options(tx=connection, key="outer").submit_sync(1)
        with pytest.raises(ZeroDivisionError):
            fail("inner")
    assert stored(connection) == 1


def test_outside_of_an_atomic_block_django_is_refused(connection: Any, work: JobType[...]) -> None:
    """Django commits each statement there, which is not what ``tx`` promises."""
    connection.ensure_connection()
    with pytest.raises(InvalidInput, match=r"tx: must be inside `transaction\.atomic"):
        work.options(tx=connection).submit_sync(1)
