"""What the demo submits: chunks of real files, with the troubles of a real day mixed in."""

import os
import random
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from attrs import frozen

from ...domain.errors import InvalidInput

CHUNK = 64 * 1024
LEASE = "5s"
MAX_ATTEMPTS = 4
FEWEST = 200
LINGERS = 1.5
"""Seconds that some jobs take longer than they need, so that a worker is surely struck in the middle of one."""


@frozen
class Chunk:
    """A piece of a file and the trouble it makes; ``number`` names it in submit keys."""

    number: int
    path: str
    offset: int
    length: int
    fails: int = 0
    poisoned: bool = False
    lingers: float = 0.0
    priority: int = 5
    delay: float = 0.0

    def request(self) -> dict[str, Any]:
        """Return the job as the body of a submit."""
        payload = {name: getattr(self, name) for name in ("path", "offset", "length")}
        payload |= {"fails": self.fails, "poisoned": self.poisoned, "lingers": self.lingers}
        return {
            "type": "hash_chunk",
            "queue": "demo",
            "payload": payload,
            "priority": self.priority,
            "delay": self.delay,
            "lease": LEASE,
            "max_attempts": MAX_ATTEMPTS,
            "retry": {"policy": "delays", "delays": [0.2, 0.5]},
            "key": f"chunk-{self.number}",
        }


def chunks_below(directory: Path, wanted: int) -> list[tuple[str, int, int]]:
    """Return ``wanted`` chunks (path, offset, length) of the files below a directory, starting over if they are few.

    Raises InvalidInput when there is no readable file with content.
    """
    found = list(islice(_chunks(directory), wanted))
    if not found:
        raise InvalidInput("directory", f"{directory} holds no readable file with content")
    return list(islice(cycle(found), wanted))


def _chunks(directory: Path) -> Iterator[tuple[str, int, int]]:
    for path in sorted(directory.rglob("*")):
        if path.is_symlink() or not path.is_file() or not os.access(path, os.R_OK):
            continue
        size = path.stat().st_size
        for offset in range(0, size, CHUNK):
            yield str(path.resolve()), offset, min(CHUNK, size - offset)


def plan(directory: Path, jobs: int, seed: int) -> list[Chunk]:
    """Return the demo's jobs: 2 % fail twice, 0.5 % are poisonous, 1 % linger, 5 % are delayed; priorities vary.

    Raises InvalidInput for fewer jobs than it takes to strike workers in the middle of some.
    """
    if jobs < FEWEST:
        raise InvalidInput("jobs", f"must be at least {FEWEST}")
    dice = random.Random(seed)  # noqa: S311 - a plan, not a secret
    planned = []
    for number, (path, offset, length) in enumerate(chunks_below(directory, jobs)):
        fate = dice.random()
        planned.append(
            Chunk(
                number,
                path,
                offset,
                length,
                fails=2 if fate < 0.02 else 0,
                poisoned=0.02 <= fate < 0.025,
                lingers=LINGERS if number % min(100, jobs // 60) == 0 else 0.0,
                priority=dice.choice((1, 5, 5, 5, 9)),
                delay=dice.uniform(0.5, 4.0) if dice.random() < 0.05 else 0.0,
            )
        )
    return planned


def duplicates(chunks: Sequence[Chunk], seed: int) -> list[Chunk]:
    """Return 2 % of the chunks, to be submitted a second time under the same keys."""
    dice = random.Random(seed)  # noqa: S311 - a choice, not a secret
    return dice.sample(list(chunks), max(1, len(chunks) // 50))
