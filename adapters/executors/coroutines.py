"""Handlers that are coroutine functions: one task each on the worker's event loop."""

import asyncio
import sys
from collections import deque
from contextvars import Context, copy_context
from typing import Any

from ...application.ports.executor import Running, Work

TURN = 64
"""Handlers that begin before the loop turns to everything else: claims and reports wait for their answers there."""

EAGER: dict[str, Any] = {"eager_start": True} if sys.version_info >= (3, 12) else {}
"""What lets a task do its first step where it is made; older Pythons cannot."""


class CoroutineExecutor:
    """A task per work, so that context variables, timeouts and cancellation are the handler's own.

    Each begins with the context of the first: none sees what the one that left it its slot has set.
    """

    def __init__(self) -> None:
        """Belong to no loop yet."""
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, work: Work) -> Running:
        """Begin with one of the loop's next iterations."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._context = loop, copy_context()
            self._line = Line(loop, self._context)
        if EAGER and loop.get_task_factory() is None:
            return self._line.join(work)
        own = Entry(work)
        own.task = self._context.run(loop.create_task, _run(work, own))  # a factory may not know of contexts
        return own.task

    def close(self) -> None:
        """Nothing to stop: the tasks belong to the loop."""


class Entry:
    """One work, in line at first, then in its task."""

    __slots__ = ("_work", "task")

    def __init__(self, work: Work) -> None:
        """Wait to begin."""
        self._work: Work | None = work
        self.task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """Cancel the task; without one yet, the work does not begin and nobody is told."""
        self._work = None
        if self.task is not None:
            self.task.cancel()

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the work in a task of its own, up to where it waits for something or ends."""
        work, self._work = self._work, None  # each would keep the other, and both be left to the collector
        if work is not None:
            self.task = asyncio.Task(_run(work, self), loop=loop, **EAGER)


class Line:
    """Works in the order they came; one callback begins many, and those that wait for nothing end in it.

    The work that may join then is the next in line, and not one deeper on the stack.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, context: Context) -> None:
        """Start empty."""
        self._loop, self._context = loop, context
        self._waiting: deque[Entry] = deque()
        self._called = False

    def join(self, work: Work) -> Entry:
        """Wait behind the others."""
        last = Entry(work)
        self._waiting.append(last)
        if not self._called:
            self._call()
        return last

    def _call(self) -> None:
        self._loop.call_soon(self._turn, context=self._context)
        self._called = True

    def _turn(self) -> None:
        waiting, loop = self._waiting, self._loop
        try:
            for _ in range(TURN):
                if not waiting:
                    break
                waiting.popleft().begin(loop)
        finally:
            self._called = False
            if waiting:
                self._call()


async def _run(work: Work, own: Entry) -> None:
    """Run the work in the task that ``own`` holds: handed in, as asking for the current one is slow on Python 3.11."""
    try:
        result = await work.begin()
    except BaseException as error:  # a handler may raise anything, SystemExit included
        if isinstance(error, GeneratorExit) and not _is_running(own.task):
            raise  # not the handler's: the loop is gone, and with it everybody who could be told
        work.end(None, error)
    else:
        work.end(result, None)


def _is_running(task: asyncio.Task[None] | None) -> bool:
    """Tell whether a task is what runs in this thread; one not known yet is in its first step."""
    try:
        return task is None or asyncio.current_task() is task
    except RuntimeError:  # no loop runs in this thread
        return False
