"""Fencepost's worker half: the app that the real ``fencepost worker`` process is started with."""

import asyncio
import logging
import os
from datetime import timedelta
from typing import Any

from handler import Recorder

from fencepost import Context, Fencepost, JobType

QUEUE = "peer"
REC = Recorder()


def registered(url: str | None, lease: timedelta | None = None) -> tuple[Fencepost, JobType[[int, str]]]:
    """Return an app for ``url`` and its one job type; ``lease`` None is the default."""
    app = Fencepost(url)
    options: dict[str, Any] = {} if lease is None else {"lease": lease}

    @app.job(queue=QUEUE, **options)
    async def peer_job(ctx: Context, seq: int, pad: str) -> None:
        if REC.begin(seq):
            await asyncio.sleep(REC.sleep)

    return app, peer_job


class _Loop(logging.Handler):
    """The worker says that it has started just before its loop, which is when the clock of a scenario starts."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == "worker started":
            REC.start()
            REC.ready()


logging.getLogger("fencepost").addHandler(_Loop())
app, _ = registered(os.environ.get("PEER_URL"))
