"""What `fencepost bench` needs of PostgreSQL: a schema for a while, facts about the server, the history."""
