"""Answers as JSON. Payloads and results are spliced in as they are stored: no number is read and written again."""

from collections.abc import Mapping, Sequence

import msgspec
from starlette.responses import Response

from ...domain.event import JobEvent
from ...domain.job import Job
from ..records import Record, contents_record, event_record, job_record


def json_response(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer."""
    return Response(encoded(content), status, headers, "application/json")


def encoded(content: object) -> bytes:
    """Return JSON text."""
    return msgspec.json.encode(content)


def job(job: Job) -> Record:
    """Return a job in full.

    The end of its lease is left out: it moves with each heartbeat, without an event, and the ETag is the seq.
    """
    return {**job_record(job), **contents_record(job, stored)}


def event(event: JobEvent) -> Record:
    """Return an event of one job, payload and result included."""
    return {**event_record(event), **contents_record(event, stored)}


def lines(rows: Sequence[Record]) -> bytes:
    """Return NDJSON."""
    return b"".join(encoded(row) + b"\n" for row in rows)


def stored(text: str) -> msgspec.Raw:
    """Return stored JSON text as a value."""
    return msgspec.Raw(text.encode())
