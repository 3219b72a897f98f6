"""The ports on PostgreSQL: SQLAlchemy Core statements, executed by psycopg 3."""
