"""Submit keys: the first request takes the key, later ones wait for it and get its answer."""

from collections.abc import Collection, Generator, Iterable, Mapping
from datetime import datetime
from typing import Any

from ...application.ports.submitter import SubmitKey
from ...domain.errors import KeyConflict, KeyInProgress
from ...domain.retry import microseconds
from .query import Query, Rows
from .submit_batch import Batch
from .submit_statements import SubmitStatements, array

PATIENCE = "5s"
"""How long the first request with a key, or the holder of unique options, is waited for."""
ROUNDS = 10
"""A row can vanish while it is being read, but hardly again and again."""

Steps = Generator[Query, Rows, None]
KeyName = tuple[str, str, str]


def settle_keys(statements: SubmitStatements, batch: Batch, now: datetime | None) -> Steps:
    """Take the keys that are free and answer for those that are used; raises KeyConflict, KeyInProgress."""
    wanted = _first_uses(batch)
    for _ in range(ROUNDS):
        if not wanted:
            return
        yield from _settle(statements, batch, wanted, now)
    raise KeyInProgress(f"submit key {next(iter(wanted))[2]!r} keeps changing hands")


def repoint_keys(statements: SubmitStatements, batch: Batch) -> Steps:
    """Correct the keys whose submission unique options answered with another job than the one drawn."""
    moved = {
        name_of(key): job_id
        for index, key in _keys(batch)
        if index in batch.ids and (job_id := batch.job_id(index)) not in (None, batch.ids[index])
    }
    if moved:
        yield statements.repoint_keys(**_columns(moved), job_id=array(moved.values()))


def name_of(key: SubmitKey) -> KeyName:
    """Return the key with its scope."""
    return key.principal, key.operation, key.key


def _keys(batch: Batch) -> Iterable[tuple[int, SubmitKey]]:
    return ((index, s.key) for index, s in enumerate(batch.submissions) if s.key is not None)


def _first_uses(batch: Batch) -> dict[KeyName, tuple[int, SubmitKey]]:
    """Fold repeated keys of the batch; sorted, so that all submitters wait for each other in one order."""
    firsts: dict[KeyName, tuple[int, SubmitKey]] = {}
    for index, key in _keys(batch):
        first, used = firsts.setdefault(name_of(key), (index, key))
        if first != index:
            _check(key, used.request_digest)
            batch.share(index, first)
    return dict(sorted(firsts.items()))


def _settle(
    statements: SubmitStatements,
    batch: Batch,
    wanted: dict[KeyName, tuple[int, SubmitKey]],
    now: datetime | None,
) -> Steps:
    """Remove from ``wanted`` what was taken or answered; what vanished in between stays."""
    for statement, more in ((statements.take_keys, {"patience": PATIENCE}), (statements.take_over_keys, {})):
        if not wanted:
            return
        rows = yield statement(**_columns(wanted), **_requests(batch, wanted.values()), now=now, **more)
        for *name, job_id in rows:
            index, _ = wanted.pop((name[0], name[1], name[2]))
            batch.ids[index] = job_id
    if wanted:
        for *name, digest, job_id in (yield statements.read_keys(**_columns(wanted))):
            index, key = wanted.pop((name[0], name[1], name[2]))
            _check(key, digest)
            batch.replay(index, job_id)


def _check(key: SubmitKey, digest: str) -> None:
    if key.request_digest != digest:
        raise KeyConflict(f"submit key {key.key!r} was used for another request")


def _columns(names: Iterable[KeyName]) -> Mapping[str, Any]:
    principals, operations, keys = zip(*names, strict=True)
    return {"principal": array(principals), "operation": array(operations), "key": array(keys)}


def _requests(batch: Batch, wanted: Collection[tuple[int, SubmitKey]]) -> Mapping[str, Any]:
    keys = [key for _, key in wanted]
    return {
        "job_id": array(batch.ids.get(index) for index, _ in wanted),
        "request_digest": array(key.request_digest for key in keys),
        "life_us": array(microseconds(key.life) for key in keys),
    }
