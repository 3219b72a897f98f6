"""Judging the results: against hashlib for all, and against another program for a sample."""

import json
import random
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from ...domain.job import Job
from ...domain.vocabulary import State
from .plan import MAX_ATTEMPTS, Chunk

SAMPLE = 300


def wrong_results(chunks: Sequence[Chunk], jobs: Mapping[int, Job]) -> list[str]:
    """Return a line for each chunk whose job did not end as it must; ``jobs`` by the chunk's number."""
    return [line for chunk in chunks if (line := _wrong(chunk, jobs.get(chunk.number)))]


def _wrong(chunk: Chunk, job: Job | None) -> str | None:
    if job is None:
        return f"chunk {chunk.number}: no job"
    if chunk.poisoned:
        right = job.state is State.DEAD and job.failures == MAX_ATTEMPTS
        return (
            None if right else f"job {job.job_id}: poisonous, but {job.state} after {job.failures} failures"
        )
    if job.state is not State.SUCCEEDED or job.result is None:
        return f"job {job.job_id}: {job.state}"
    if job.failures < chunk.fails:
        return f"job {job.job_id}: {job.failures} failures, {chunk.fails} were due"
    return None if json.loads(job.result) == _digest(chunk) else f"job {job.job_id}: wrong digest"


def _digest(chunk: Chunk) -> str:
    return sha256(_bytes(chunk)).hexdigest()


def _bytes(chunk: Chunk) -> bytes:
    with Path(chunk.path).open("rb") as file:
        file.seek(chunk.offset)
        return file.read(chunk.length)


def sample(chunks: Sequence[Chunk], seed: int) -> list[Chunk]:
    """Return up to 300 chunks that must have a result."""
    good = [chunk for chunk in chunks if not chunk.poisoned]
    dice = random.Random(seed)  # noqa: S311 - a choice, not a secret
    return dice.sample(good, min(SAMPLE, len(good)))


def sha256sum(chunk: Chunk) -> str:
    """Return what the program ``sha256sum`` prints for a chunk."""
    program = shutil.which("sha256sum") or "sha256sum"
    printed = subprocess.run([program], input=_bytes(chunk), capture_output=True, check=True).stdout
    return printed.split()[0].decode()
