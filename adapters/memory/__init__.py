"""The ports in memory: for unit tests, for simulation, and for users who test their own handlers."""
