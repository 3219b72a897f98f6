"""PostgreSQL without an installation: a private server on the loopback interface."""
