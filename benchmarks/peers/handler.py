"""What handlers of all Python peers share: a counter, the moment of a start, an optional sleep.

In ``noop`` mode (drain, pinned) a handler only counts. Times are CLOCK_MONOTONIC, so that those of the driver and of
the Node workers can be compared with them.
"""

import os
import threading
import time
from pathlib import Path

PUBLISH_EVERY = 0.1


class Recorder:
    """Tells the driver what its worker process does."""

    def __init__(self) -> None:
        """Read what the driver wants to know from the environment."""
        self.mode = os.environ.get("PEER_MODE", "noop")
        self.dir = os.environ.get("PEER_DIR", ".")
        self.sleep = float(os.environ.get("PEER_SLEEP", "30"))
        self.profile = os.environ.get("PEER_PROFILE", "best")
        self.url = os.environ.get("PEER_URL", "")
        self.n = 0
        self._stamp = self._count = -1

    def start(self) -> None:
        """Call once in each process that runs handlers."""
        pid = os.getpid()
        self._stamp = os.open(f"{self.dir}/stamp.{pid}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._count = os.open(f"{self.dir}/count.{pid}", os.O_WRONLY | os.O_CREAT)
        threading.Thread(target=self._publish, daemon=True).start()

    def ready(self) -> None:
        """Call just before the worker's loop."""
        Path(self.dir, f"ready.{os.getpid()}").write_text(f"{time.monotonic_ns()}\n")

    def begin(self, seq: int) -> bool:
        """Note that a job starts; True if the handler should then sleep."""
        self.n += 1
        if self.mode == "noop":
            return False
        os.write(self._stamp, b"%d %d\n" % (seq, time.monotonic_ns()))
        return self.mode == "sleep"

    def _publish(self) -> None:
        while True:
            time.sleep(PUBLISH_EVERY)
            os.pwrite(self._count, b"%d" % self.n, 0)
