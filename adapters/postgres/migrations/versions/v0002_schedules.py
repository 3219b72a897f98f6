"""Make the tables of schedules, their firings and their backfills."""

from alembic import context

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Run the file of this revision."""
    context.config.attributes["execute"]("schedules.sql")
