"""PostgreSQL without an installation: a private, durable server on the loopback interface.

For laptops, demonstrations and tests: one host, no backups, POSIX systems only.
"""

from .running import Running
from .server import EmbeddedPostgres
from .temporary import temporary_postgres

__all__ = ["EmbeddedPostgres", "Running", "temporary_postgres"]
