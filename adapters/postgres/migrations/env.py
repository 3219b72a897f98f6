"""Alembic's entry: it loads this file by its path, so everything else is in the package."""

from alembic import context

context.config.attributes["run"](context)
