"""Make the tables of jobs and their history, and guard the history."""

from alembic import context

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Run the files of this revision."""
    execute = context.config.attributes["execute"]
    execute("foundation.sql")
    execute("guard.sql")
