"""The OpenAPI document says what the API does."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from fencepost.domain import commands as c
from fencepost.entrypoints.api import operations, requests
from fencepost.entrypoints.api.schedules import backfills
from fencepost.entrypoints.api.schedules import requests as schedules
from support.api import Memory, in_process


@pytest.fixture
async def document(client: httpx2.AsyncClient) -> dict[str, Any]:
    """The document as it is served."""
    answer = await client.get("/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def references(part: Any) -> Iterator[str]:
    """Every $ref below a part."""
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    if isinstance(part, list):
        for value in part:
            yield from references(value)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    """The document is version 3.1 and whole."""
    names = set(document["components"]["schemas"])
    assert document["openapi"].startswith("3.1")
    assert {ref.rpartition("/")[2] for ref in references(document)} <= names


def test_no_answer_is_left_undescribed(document: dict[str, Any]) -> None:
    """Each operation describes its answers and the problems, and never FastAPI's own error."""
    for path, operations_ in document["paths"].items():
        for method, operation in operations_.items():
            assert {"4XX", "5XX"} < set(operation["responses"]), (method, path)
            assert "422" not in operation["responses"]
            for status, answer in operation["responses"].items():
                empty = [media for media in answer.get("content", {}).values() if not media.get("schema")]
                assert not empty, (method, path, status)


def test_every_parameter_of_a_path_is_described(document: dict[str, Any]) -> None:
    """What stands in braces is a parameter."""
    for path, operations_ in document["paths"].items():
        for operation in operations_.values():
            described = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
            assert described == {part[1:-1] for part in path.split("/") if part.startswith("{")}


@pytest.mark.parametrize(
    ("schema", "readers"),
    [
        ("JobRequest", requests.SINGLE),
        ("BatchJob", requests.ITEM),
        ("Why", operations.REASON),
        ("Requeue", operations.REQUEUE),
        ("Revoke", operations.REVOKE),
        ("Edit", operations.EDIT),
        ("ScheduleRequest", schedules.CREATE),
        ("ScheduleReplacement", schedules.REPLACE),
        ("ScheduledJob", schedules.JOB),
        ("TriggerRequest", schedules.TRIGGER),
        ("BackfillRequest", backfills.BACKFILL),
        ("PreviewRequest", schedules.PREVIEW),
    ],
)
def test_requests_have_exactly_the_described_fields(
    document: dict[str, Any], schema: str, readers: dict[str, Any]
) -> None:
    """What the parser takes is what the document says, and nothing else."""
    described = document["components"]["schemas"][schema]
    assert set(described["properties"]) == set(readers)
    assert described["additionalProperties"] is False


def test_retry_policies_have_exactly_the_described_fields(document: dict[str, Any]) -> None:
    """Each policy is told by its name and has its own options."""
    for name, (_, readers, required) in requests.POLICIES.items():
        described = document["components"]["schemas"][name.capitalize()]
        assert set(described["properties"]) == {"policy", *readers}
        assert set(described["required"]) == {"policy", *required}


async def test_answers_have_exactly_the_described_fields(document: dict[str, Any], memory: Memory) -> None:
    """Jobs, events, queues and pages carry what the document says, no more and no less."""
    described = {name: set(s.get("properties", ())) for name, s in document["components"]["schemas"].items()}
    async with in_process(memory.container) as client:
        submitted = await client.post("/v1/jobs", json={"type": "t"})
        await client.post("/v1/queues/q/pause")
        cancelled = await client.post("/v1/jobs/1/cancel")
        page, log = await client.get("/v1/jobs"), await client.get("/v1/events")
        history, queues = await client.get("/v1/jobs/1/events"), await client.get("/v1/queues")
        found = {
            "Submitted": submitted.json(),
            "Operated": cancelled.json(),
            "Job": (await client.get("/v1/jobs/1")).json(),
            "JobPage": page.json(),
            "JobInList": page.json()["items"][0],
            "EventPage": log.json(),
            "JobEventInLog": log.json()["items"][0],
            "ControlEvent": log.json()["items"][1],
            "History": history.json(),
            "JobEvent": history.json()["events"][0],
            "Queues": queues.json(),
            "Queue": queues.json()["items"][0],
        }
    assert {name: set(answer) for name, answer in found.items()} == {name: described[name] for name in found}


def test_every_operation_of_the_domain_has_a_route(document: dict[str, Any]) -> None:
    """Cancel, revoke, requeue, edit and dismiss are all reachable."""
    names = {path.rpartition("/")[2] for path in document["paths"]} | {
        operation["operationId"].split("_")[0]
        for path in document["paths"].values()
        for operation in path.values()
    }
    assert {command.name.value for command in (c.Cancel, c.Revoke, c.Requeue, c.Edit, c.Dismiss)} <= names
