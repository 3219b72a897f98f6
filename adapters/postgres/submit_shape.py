"""What jobs of a batch have in common: described and encoded once for a whole run of jobs that are alike."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ...application.ports.runs import Run
from ...domain import facts, retry
from ...domain.job import Specification

_encode = msgspec.json.Encoder().encode


def pieces(batch: Iterable[Run], most: int) -> Iterator[list[Run]]:
    """Cut a batch into pieces of at most so many jobs."""
    piece, room = [], most
    for run in batch:
        start = 0
        while start < len(run.payloads):
            part = Run(run.first, run.payloads[start : start + room])
            piece.append(part)
            start, room = start + len(part.payloads), room - len(part.payloads)
            if not room:
                yield piece
                piece, room = [], most
    if piece:
        yield piece


def jobs(piece: Iterable[Run]) -> int:
    """Return how many jobs there are."""
    return sum(len(run.payloads) for run in piece)


def policy(specification: Specification) -> str:
    """Return the retry policy as JSON."""
    return _encode(_sorted(retry.describe(specification.retry))).decode()


def description(specification: Specification) -> str:
    """Return the data of an ``enqueued`` event as JSON, but for its end: ``ending`` has the payload's digest."""
    described = _sorted(facts.describe(specification))
    last = described.popitem()  # has the longest name
    assert last[0] == "payload_digest"
    return f'{_encode(described).decode()[:-1]},"payload_digest":'


def ending(payload: str | None) -> str:
    """Return what completes a description."""
    return "null}" if payload is None else f'"{facts.digest(payload)}"}}'


def _sorted(described: dict[str, Any]) -> dict[str, Any]:
    """Return an object whose members are in the order of jsonb, which then need not sort them for each job."""
    whole = {name: _sorted(value) if isinstance(value, dict) else value for name, value in described.items()}
    return dict(sorted(whole.items(), key=lambda member: (len(member[0]), member[0])))
