"""Command lines as jobs: processes of this machine, which end with their attempt, whatever ends it."""
