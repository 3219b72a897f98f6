"""B135, B136, B137: a real worker process over a real database lives through whatever its handlers end with."""

import os
import sys
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fencepost.domain.limits import ERROR_BYTES
from fencepost.domain.retry import Constant
from support.commands import Running
from support.polling import eventually
from support.site import Site, site_over

APPS = Path(__file__).parent / "apps"
SOON = timedelta(seconds=2)
ERRORS = {
    "nul": ("ValueError", "a\ufffdb"),
    "surrogate": ("ValueError", "x\ufffd"),
    "bytes": ("ValueError", r"b'\xff\xfe'"),
    "undecodable": ("ValueError", "caf\ufffd"),
    "speechless": ("Speechless", "(no message: its __str__ raised RuntimeError)"),
    "leaving": ("Leaving", "(no message: its __str__ raised SystemExit)"),
    "huge": ("ValueError", "x" * (ERROR_BYTES // 4)),
    "recursion": ("RecursionError", "maximum recursion depth exceeded"),
    "exit": ("SystemExit", "good bye"),
    "interrupt": ("KeyboardInterrupt", ""),
    "cancelled": ("CancelledError", ""),
    "group": ("ExceptionGroup", "many (1000 sub-exceptions)"),
    "base group": ("BaseExceptionGroup", "worse (2 sub-exceptions)"),
    "unpicklable": ("Clinging", "holds a lock"),
    "generator exit": ("GeneratorExit", ""),
    "chain": ("ValueError", "number 9999"),
}
RESULTS = {
    "set": "result: must be a JSON value, not set",
    "decimal": "result: must be a JSON value, not Decimal",
    "datetime": "result: must be a JSON value, not datetime",
    "nan": "result: must be a finite number",
    "bytes": "result: must be a JSON value, not bytes",
    "circle": "result" + "[0]" * 64 + ": must not be nested deeper than 64",
    "nul": "result: must not contain NUL characters or lone surrogates",
    "huge": "result: must be at most 262144 bytes of JSON",
    "leaving": "SystemExit: 1",
}
TOLD = """
SELECT job_id, array_agg(name ORDER BY seq), (array_agg(at ORDER BY seq))[2], max(at), (array_agg(data ORDER BY seq))[3]
FROM fencepost.job_events GROUP BY job_id ORDER BY job_id
"""


@pytest.fixture
def site(database: str, tmp_path: Path) -> Iterator[Site]:
    """A place for one worker process over a database of the test's own."""
    with site_over(database, tmp_path) as site:
        yield site


def started(site: Site, slots: int = 1) -> Running:
    """A worker process that has started."""
    path = os.pathsep.join([str(APPS), *sys.path])
    worker = site.worker(slots, app="endings:app", PYTHONPATH=path)
    worker.said("worker started")
    return worker


def lived_through(
    site: Site, types: tuple[str, str], kinds: list[str]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Run each kind alone in the one slot, and a plain job after it; return the errors when all else is right."""
    asked = [(name, kind) for name in types for kind in kinds]
    odd = {}
    for name, kind in asked:
        [job] = site.submit(name, payload={"kind": kind}, max_attempts=1)
        odd[job] = (name, kind)
        site.submit("echo")
    worker = started(site)
    site.finished()
    told = site.ask(TOLD)
    for job, names, claimed, ended, _ in told:
        assert names == ["enqueued", "claimed", "failed" if job in odd else "succeeded"], odd.get(job)
        assert ended - claimed < SOON, odd.get(job)
    for (*_, ended, _), (_, _, claimed, *_) in pairwise(told):
        assert claimed - ended < SOON
    assert site.states() == {"dead": len(odd), "succeeded": len(odd)}
    assert worker.stop() == 0
    assert "Traceback" not in worker.log.read_text()
    return {odd[job]: data["error"] for job, *_, data in told if job in odd}


def test_whatever_is_raised_is_one_failure_and_the_worker_lives(site: Site) -> None:
    """B135, B136: one failed event each, its text cleaned and bounded; the next job is done at once."""
    errors = lived_through(site, ("fail", "fail_in_thread"), list(ERRORS))
    for (name, kind), error in errors.items():
        assert (error["type"], error["message"]) == ERRORS[kind], name
        assert sum(len(text.encode()) for text in error.values()) <= ERROR_BYTES


def test_whatever_is_returned_is_a_result_or_a_failure(site: Site) -> None:
    """B137: what is no JSON fails its attempt as bad_result, naming the rule; nothing runs until its lease ends."""
    errors = lived_through(site, ("give", "give_in_thread"), list(RESULTS))
    for (name, kind), error in errors.items():
        assert error == {"type": "bad_result", "message": RESULTS[kind]}, name


def test_a_failure_with_an_odd_text_is_retried_as_usual(site: Site) -> None:
    """B135: three attempts, three failed events, then dead."""
    jobs = [
        *site.submit(
            "fail", payload={"kind": "nul"}, max_attempts=3, retry=Constant(timedelta(microseconds=1))
        ),
        *site.submit(
            "give", payload={"kind": "set"}, max_attempts=3, retry=Constant(timedelta(microseconds=1))
        ),
    ]
    started(site)
    site.finished()
    for job in jobs:
        names = [name for name, _ in site.events(job)]
        assert names == ["enqueued", *["claimed", "failed"] * 3]
    assert site.states() == {"dead": 2}


def test_a_cancel_a_timeout_and_an_own_cancelled_error_are_told_apart(site: Site) -> None:
    """B136: cancelled from outside, timed out, or raised by the handler itself: three endings."""
    [unwanted] = site.submit("wait", max_attempts=1, lease=timedelta(seconds=1))
    [slow] = site.submit("wait", max_attempts=1, timeout=timedelta(seconds=1))
    [own] = site.submit("fail", payload={"kind": "cancelled"}, max_attempts=1)
    started(site, slots=3)
    eventually(lambda: site.events(unwanted)[1:])
    site.commands.json("jobs", "cancel", str(unwanted))
    site.finished()
    endings = dict(site.ask("SELECT job_id, name FROM fencepost.job_events ORDER BY seq"))
    assert endings == {unwanted: "cancelled", slow: "failed", own: "failed"}
    told = dict(
        site.ask("SELECT job_id, data #>> '{error,type}' FROM fencepost.job_events WHERE name = 'failed'")
    )
    assert told == {slow: "timeout", own: "CancelledError"}
