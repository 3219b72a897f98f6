"""Handlers that are coroutine functions: one task each on the worker's event loop."""

import asyncio

from ...application.ports.executor import Work


class CoroutineExecutor:
    """A task per work, so that context variables, timeouts and cancellation are the handler's own."""

    def start(self, work: Work) -> asyncio.Task[None]:
        """Begin with the loop's next iteration."""
        own: list[asyncio.Task[None]] = []
        task = asyncio.get_running_loop().create_task(_run(work, own))
        own.append(task)
        return task

    def close(self) -> None:
        """Nothing to stop: the tasks belong to the loop."""


async def _run(work: Work, own: list[asyncio.Task[None]]) -> None:
    """Run the work in the task that ``own`` holds: handed in, as asking for the current one is slow on Python 3.11."""
    try:
        result = await work.begin()
    except BaseException as error:  # a handler may raise anything, SystemExit included
        if isinstance(error, GeneratorExit) and not _is_running(own[0]):
            raise  # not the handler's: the loop is gone, and with it everybody who could be told
        work.end(None, error)
    else:
        work.end(result, None)


def _is_running(task: asyncio.Task[None]) -> bool:
    try:
        return asyncio.current_task() is task
    except RuntimeError:  # no loop runs in this thread
        return False
