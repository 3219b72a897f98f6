"""pg-boss (Node): polling fetch in batches."""

from typing import Any, ClassVar

from node_adapter import NodeAdapter

BATCH = 1000


class Peer(NodeAdapter):
    """One Node process."""

    name = package = "pg-boss"
    script = "pgboss.cjs"
    drain_jobs = 100_000
    settings = (
        f"insert 5000/call; work() batchSize {BATCH}, poll 0.5 s (its minimum), "
        "notifyWorker after a full batch"
    )
    _work: ClassVar[dict[str, Any]] = {"batchSize": BATCH, "pollingIntervalSeconds": 0.5}
    profiles: ClassVar[dict[str, Any]] = {
        "best": {"bulk": 5000, "loops": 1, "work": _work, "boss": {"max": 10}},
        # expiry is by age alone, so it must be longer than the longest job (30 s here)
        "quick": {
            "bulk": 5000,
            "loops": 1,
            "work": _work,
            "queue": {"expireInSeconds": 31},
            "boss": {"max": 10, "maintenanceIntervalSeconds": 1, "monitorStateIntervalSeconds": 1},
        },
    }
    done_sql = "select count(*) from pgboss.job where name = 'peer' and state = 'completed'"
