"""The systems that can be measured, by the name of their module in adapters/."""

POSTGRES = ("fencepost", "procrastinate", "pgqueuer", "awa", "oban", "absurd", "graphile", "pgboss")
APART = ("awa256", "fencepost100")
"""With other settings than the comparison's, for drain only."""
REDIS = ("celery", "dramatiq", "arq")
"""Not durable."""
FLOOR = "floor"
SYSTEMS = (*POSTGRES, *APART, *REDIS, FLOOR)
