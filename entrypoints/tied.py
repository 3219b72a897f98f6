"""A command that ends with the process that started it: `python -m fencepost.entrypoints.tied scheduler`.

Its standard input is a pipe that only the starter holds open. When the starter ends, in whatever way, the kernel closes
the pipe, and the command is told to stop as an operator would tell it.
"""

import os
import signal
import threading

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


if __name__ == "__main__":
    tie()
    main()
