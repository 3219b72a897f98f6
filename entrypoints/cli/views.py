"""What commands show of jobs and events: payloads and results included, absent facts of events left out."""

import json

from ...domain.event import ControlEvent, JobEvent
from ...domain.job import Job
from .. import records
from ..records import Record


def job_record(job: Job) -> Record:
    """Return everything that is true of a job now."""
    return {
        **records.job_record(job),
        **records.lease_record(job),
        **records.contents_record(job, json.loads),
    }


def event_record(event: JobEvent | ControlEvent) -> Record:
    """Return an event with what it carries."""
    carried = records.contents_record(event, json.loads) if isinstance(event, JobEvent) else {}
    return _told({**records.event_record(event), **carried})


def log_record(event: JobEvent | ControlEvent) -> Record:
    """Return an event of the global log."""
    return _told(records.event_record(event))


def _told(record: Record) -> Record:
    return {name: value for name, value in record.items() if value is not None}
