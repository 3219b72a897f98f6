"""/v1/schedules."""
