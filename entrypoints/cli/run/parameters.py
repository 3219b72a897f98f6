"""Parameters that several run commands take."""

from typing import Annotated

from cyclopts import Parameter

Queues = Annotated[
    str | None,
    Parameter(
        help="Queues and slots of each worker process, such as mail:20,default:5; else all of the app's, 10 "
        "each. A name that has a colon takes a number, too."
    ),
]
NoSync = Annotated[
    bool,
    Parameter(
        name="--no-sync", help="Leave schedules that the app declares to `schedules sync`.", negative=""
    ),
]
NO_SYNC = ["--no-sync"]
"""How a child is told."""
AllowShell = Annotated[
    bool,
    Parameter(help="Run jobs of type shell.run, too: command lines, as the worker's own user.", negative=()),
]
