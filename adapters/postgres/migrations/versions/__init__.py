"""One file a version; Alembic finds them."""
