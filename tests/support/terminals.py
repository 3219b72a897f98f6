"""A terminal for one command."""

import os
import pty
import subprocess
import termios

from support.commands import COMMAND, Commands


def on_a_terminal(
    fencepost: Commands, *arguments: str, typed: str = "", stop_at: str = "", columns: int = 160
) -> tuple[int, str]:
    """Run a command with a terminal on all three streams; returns its exit code and what the screen shows.

    ``stop_at`` is the text on the screen at which it is told to stop.
    """
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=fencepost.folder,
        env={**fencepost.environment, "TERM": "xterm", "COLUMNS": str(columns)},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    screen = b""
    try:
        while part := os.read(ours, 4096):
            screen += part
            if stop_at and stop_at in screen.decode(errors="replace"):
                process.terminate()
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    return process.wait(30), screen.decode()
