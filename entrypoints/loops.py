"""How a process runs its event loop: which one, and how often the cyclic collector interrupts it."""

import asyncio
import gc
from collections.abc import Callable

YOUNG = 50_000
"""New objects after which the collector looks for cycles among them."""


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the fastest loop there is; None leaves it to asyncio."""
    try:
        import uvloop  # noqa: PLC0415 - not there on every platform
    except ImportError:
        return None
    return uvloop.new_event_loop


def calm_the_collector() -> None:
    """Let the cyclic collector pass over what the program has loaded, and look at new objects in larger batches.

    A batch of jobs is thousands of objects that all live until their report is answered, a request some hundreds: at
    Python's own threshold the collector walks them again and again, for a tenth of a busy worker's time. They are
    freed by reference counting.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
