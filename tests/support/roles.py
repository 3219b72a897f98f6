"""A role for one process alone, so that its connections can be told from all others, cut, and kept out."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import psycopg
from attrs import define, field
from psycopg import sql
from psycopg.conninfo import make_conninfo

from .polling import eventually

PATIENCE = 60.0
THROW_OUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s"


@define
class Role:
    """A superuser for a while."""

    server: str
    name: str = field(factory=lambda: f"chaos_{secrets.token_hex(4)}")

    def dsn(self, database: str) -> str:
        """The address of a database for this role."""
        return make_conninfo(database, user=self.name, password="p")

    def run(self, statement: str) -> None:
        """Run a statement about the role."""
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(self.name)))

    def defaults(self, settings: Mapping[str, str]) -> None:
        """Give its sessions to come other defaults."""
        for name, value in settings.items():
            self.run(f"ALTER ROLE {{}} SET {name} = {value}")

    def throw_out(self) -> int:
        """Terminate every backend of the role and return how many there were."""
        with psycopg.connect(self.server, autocommit=True) as connection:
            return connection.execute(THROW_OUT, [self.name]).rowcount

    def harass(self, over: Callable[[], object], every: float) -> None:
        """Do so again and again, until something is so."""

        def look() -> object:
            self.throw_out()
            return over()

        eventually(look, within=PATIENCE, every=every)


@contextmanager
def role_of(server: str) -> Iterator[Role]:
    """A role that is gone at the end, with all who use it."""
    role = Role(server)
    role.run("CREATE ROLE {} LOGIN SUPERUSER PASSWORD 'p'")
    try:
        yield role
    finally:
        role.run("ALTER ROLE {} NOLOGIN")
        role.throw_out()
        role.run("DROP ROLE {}")
