"""Moments and durations in requests."""

from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.errors import InvalidInput
from fencepost.domain.facts import instant
from fencepost.entrypoints.api.moments import moment
from support.api import Memory


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("2025-01-01T00:00:00Z", "2025-01-01T00:00:00.000000Z"),
        ("2025-01-01t00:00:00z", "2025-01-01T00:00:00.000000Z"),
        ("2025-01-01T02:00:00+02:00", "2025-01-01T00:00:00.000000Z"),
        ("2024-12-31T23:59:59.5-00:00", "2024-12-31T23:59:59.500000Z"),
        ("2025-01-01T00:00:00.123456789Z", "2025-01-01T00:00:00.123456Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
async def test_a_moment_is_echoed_as_it_is_stored(
    client: httpx2.AsyncClient, given: str, stored: str
) -> None:
    """B180: RFC 3339 goes in with any offset and comes out in UTC with microseconds; finer digits are cut."""
    assert (await client.post("/v1/jobs", json={"type": "t", "run_at": given})).status_code == 201
    assert (await client.get("/v1/jobs/1")).json()["run_at"] == stored


@pytest.mark.parametrize(
    "given",
    [
        "2025-01-01T00:00",
        "2025-01-01T00:00:00",
        "2025-01-01",
        "2025-W01-1T00:00:00Z",
        "20250101T000000Z",
        "2025-01-01 00:00:00+00",
        "2025-01-01 00:00:00Z",
        "2025-01-01T00:00:00+0000",
        "2025-01-01T00:00Z",
        "2025-01-01T00:00:00,5Z",
        "2025-01-01T00:00:00.Z",
        "2025-06-30T23:59:60Z",
        "2025-01-01T24:00:00Z",
        "2025-02-29T00:00:00Z",
        "2025-01-01T00:00:00+24:00",
        "٢٠٢٥-01-01T00:00:00Z",
        " 2025-01-01T00:00:00Z",
        "2025-01-01T00:00:00Z\n",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59-01:00",
        "0001-01-01T00:00:00+23:59",
        "infinity",
        "-infinity",
        "now",
        "today",
        "epoch",
        "NaN",
        "",
        1735689600,
        1.5,
        True,
        None,
        [],
        {},
    ],
)
async def test_anything_else_is_no_moment(client: httpx2.AsyncClient, memory: Memory, given: Any) -> None:
    """B131, B174, B176, B180: Naive, exotic and symbolic times give 422 naming the field."""
    answer = await client.post("/v1/jobs", json={"type": "t", "run_at": given})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/run_at")
    assert memory.database.jobs == {}


@pytest.mark.parametrize(
    "value", ["infinity", "now", "NaN", "2025-01-01", "null", "", "2025-01-01T00:00:00+01:00"]
)
@pytest.mark.parametrize("name", ["submitted_from", "submitted_before"])
async def test_filters_take_the_same_moments(client: httpx2.AsyncClient, name: str, value: str) -> None:
    """B176: A filter that is no moment gives 422 naming the parameter; a bare plus sign arrives as a space."""
    answer = await client.get(f"/v1/jobs?{name}={value}")
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, name)


@pytest.mark.parametrize(
    "given", [-5, -0.001, 1e308, 2**63, 10**400, "5", "", "5 s", "1y", "-5s", True, [], {}, "9" * 400 + "s"]
)
@pytest.mark.parametrize("field", ["delay", "timeout", "lease"])
async def test_a_duration_is_finite_and_not_negative(
    client: httpx2.AsyncClient, field: str, given: Any
) -> None:
    """B131, B179: Anything but seconds from 0 to 100 years, or text such as 30s, gives 422 naming the field."""
    answer = await client.post("/v1/jobs", json={"type": "t", field: given})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"/{field}")


@pytest.mark.parametrize(("field", "status"), [("delay", 201), ("timeout", 422), ("lease", 422)])
async def test_zero_is_a_delay_but_no_timeout(client: httpx2.AsyncClient, field: str, status: int) -> None:
    """B179: A delay of 0 means now; no job could run under a timeout or lease of 0."""
    assert (await client.post("/v1/jobs", json={"type": "t", field: 0})).status_code == status


async def test_a_delay_counts_on_the_clock_of_the_database(client: httpx2.AsyncClient) -> None:
    """A delay moves run_at forward from the moment of the submit."""
    await client.post("/v1/jobs", json={"type": "t", "delay": "1h30m"})
    assert (await client.get("/v1/jobs/1")).json()["run_at"] == "2030-01-01T01:30:00.000000Z"


@given(st.datetimes(datetime(1970, 1, 2), datetime(9999, 12, 30)), st.timezones())  # noqa: DTZ001
def test_every_moment_is_read_as_it_is_written(naive: datetime, zone: Any) -> None:
    """What isoformat writes for any zone with whole minutes is read as the same instant."""
    aware = naive.replace(tzinfo=zone)
    offset = aware.utcoffset()
    if offset is not None and offset.total_seconds() % 60 == 0:
        assert moment("run_at", aware.isoformat()) == aware
    assert moment("run_at", instant(naive.replace(tzinfo=UTC))) == naive.replace(tzinfo=UTC)


@given(
    st.from_regex(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{0,8})?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
    )
    | st.text()
)
def test_no_text_breaks_the_reader(text: str) -> None:
    """Arbitrary text is a storable moment or refused."""
    try:
        found = moment("run_at", text)
    except InvalidInput:
        return
    assert instant(found)
