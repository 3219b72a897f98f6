"""The worker plane: claim, run, heartbeat, report."""
