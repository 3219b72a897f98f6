"""Judging the results: against hashlib for all, and against another program for a sample."""

import random
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from .plan import MAX_ATTEMPTS, Chunk

SAMPLE = 300


def wrong_results(chunks: Sequence[Chunk], jobs: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """Return a line for each chunk whose job did not end as it must; ``jobs`` by the chunk's number."""
    return [line for chunk in chunks if (line := _wrong(chunk, jobs.get(chunk.number)))]


def _wrong(chunk: Chunk, job: Mapping[str, Any] | None) -> str | None:
    if job is None:
        return f"chunk {chunk.number}: no job"
    if chunk.poisoned:
        right = job["state"] == "dead" and job["failures"] == MAX_ATTEMPTS
        return None if right else f"job {job['job_id']}: poisonous, but {job['state']}"
    if job["state"] != "succeeded":
        return f"job {job['job_id']}: {job['state']}"
    if job["failures"] < chunk.fails:
        return f"job {job['job_id']}: {job['failures']} failures, {chunk.fails} were due"
    return None if job["result"] == _digest(chunk) else f"job {job['job_id']}: wrong digest"


def _digest(chunk: Chunk) -> str:
    return sha256(_bytes(chunk)).hexdigest()


def _bytes(chunk: Chunk) -> bytes:
    with Path(chunk.path).open("rb") as file:
        file.seek(chunk.offset)
        return file.read(chunk.length)


def sample_with_sha256sum(
    chunks: Sequence[Chunk], jobs: Mapping[int, Mapping[str, Any]], seed: int
) -> tuple[int, list[str]]:
    """Compare a sample of the results with the program ``sha256sum``; returns how many and the differences."""
    program = shutil.which("sha256sum")
    good = [chunk for chunk in chunks if not chunk.poisoned]
    if program is None:
        return 0, ["sha256sum is not installed"]
    dice = random.Random(seed)  # noqa: S311 - a choice, not a secret
    sample = dice.sample(good, min(SAMPLE, len(good)))
    wrong = []
    for chunk in sample:
        printed = subprocess.run([program], input=_bytes(chunk), capture_output=True, check=True).stdout
        if printed.split()[0].decode() != jobs[chunk.number]["result"]:
            wrong.append(f"chunk {chunk.number}: sha256sum disagrees")
    return len(sample), wrong
