"""`fencepost queues`."""

from typing import TYPE_CHECKING

from cyclopts import App

from ...domain.errors import InvalidInput
from ...domain.submission import check_origin
from ...domain.values import check_name
from ..records import queue_record
from .flags import PLAIN, Flags, Reason
from .output import emit_many
from .session import origin, session

if TYPE_CHECKING:
    from ...domain.vocabulary import Verdict

COLUMNS = ("name", "paused_at", "due", "pending", "running")
queues = App(name="queues", help="List, pause and resume queues.")


@queues.command(name="list")
async def list_queues(*, flags: Flags = PLAIN) -> None:
    """List queues with their jobs of now."""
    async with session(flags) as container:
        found = await container.queue_store().list()
    emit_many(flags.output, map(queue_record, found), COLUMNS)


@queues.command
async def pause(*names: str, reason: Reason = None, flags: Flags = PLAIN) -> None:
    """Stop claims from queues; when this returns, claims that began before are over."""
    await _each(names, "pause", reason, flags)


@queues.command
async def resume(*names: str, reason: Reason = None, flags: Flags = PLAIN) -> None:
    """Let claims go on."""
    await _each(names, "resume", reason, flags)


async def _each(names: tuple[str, ...], operation: str, reason: str | None, flags: Flags) -> None:
    trail = origin(reason)
    check_origin(trail)
    if not names:
        raise InvalidInput("NAME", f"must be given: fencepost queues {operation} NAME")
    for name in names:
        check_name("queue", name)
    async with session(flags) as container:
        store = container.queue_store()
        act = store.pause if operation == "pause" else store.resume
        answers = [_answer(name, await act(name, trail)) for name in names]
    emit_many(flags.output, answers, ("queue", "verdict"))


def _answer(name: str, verdict: "Verdict") -> dict[str, str]:
    return {"queue": name, "verdict": verdict.value}
