"""Submission facts: into the ``enqueued`` event and back."""

import json

from hypothesis import given

from fencepost.domain.facts import describe, digest, instant, restore
from fencepost.domain.job import Specification
from support.strategies import moments, specifications


@given(specifications)
def test_a_specification_survives_the_way_through_an_event(specification: Specification) -> None:
    """What was submitted can be told from the event's data, as JSON, and the payload beside it."""
    data = json.loads(json.dumps(describe(specification)))
    assert restore(data, specification.payload) == specification


@given(specifications)
def test_the_event_holds_the_payloads_digest_and_never_the_payload(specification: Specification) -> None:
    """An erased payload leaves its digest behind, and nothing else."""
    data = describe(specification)
    assert "payload" not in data
    payload = specification.payload
    assert data["payload_digest"] == (None if payload is None else digest(payload))


@given(moments)
def test_instants_sort_as_text(moment: object) -> None:
    """Every moment is written with the same width, in UTC."""
    from datetime import datetime

    assert isinstance(moment, datetime)
    text = instant(moment)
    assert len(text) == len("2030-01-01T00:00:00.000000Z")
    assert datetime.fromisoformat(text) == moment
