"""Whether a worker runs command lines: only when it was told to."""

from ..application.handlers import Handlers
from ..domain.errors import InvalidInput
from .settings import Settings

QUEUE = "default"
"""What a worker serves that has neither queues of its own nor an app that names some."""


def allowed(handlers: Handlers, settings: Settings) -> Handlers:
    """Return what a worker runs: an app's handlers, and that of ``shell.run`` where the settings allow it.

    Command lines are claimed from the queues that the worker serves in any case. Raises InvalidInput when there is
    nothing to run, HandlerClash when the app has a handler of that type.
    """
    if settings.allow_shell:
        from ..adapters.shell.handler import shell_handler  # noqa: PLC0415 - few workers run command lines

        served = sorted(settings.queues or handlers.queues) or [QUEUE]
        all_handlers = Handlers()
        for handler in (*handlers, shell_handler(served[0])):
            all_handlers.add(handler)
        return all_handlers
    if not handlers.types:
        raise InvalidInput("app", "must be given: MODULE:APP such as myapp.jobs:app, or --allow-shell")
    return handlers
