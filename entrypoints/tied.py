"""A command that ends with the process that started it: `python -m fencepost.entrypoints.tied NAME scheduler`.

Its standard input is a pipe that only the starter holds open. When the starter ends, in whatever way, the kernel closes
the pipe, and the command is told to stop as an operator would tell it.
"""

import logging
import os
import signal
import sys
import threading
from typing import Any

from .cli.main import main


def tie() -> None:
    """Watch the pipe on standard input; what the command runs reads from nothing."""
    pipe = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(pipe,), name="fencepost-tie", daemon=True).start()


def _watch(pipe: int) -> None:
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def name(child: str) -> None:
    """Let every line that this process logs say which child it is."""
    make = logging.getLogRecordFactory()

    def named(*arguments: Any, **options: Any) -> logging.LogRecord:
        record = make(*arguments, **options)
        record.child = child
        return record

    logging.setLogRecordFactory(named)


if __name__ == "__main__":
    tie()
    name(sys.argv.pop(1))
    main()
