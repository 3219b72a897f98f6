"""Bodies: strict JSON in, the same digits out, bounds on everything."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from fencepost.entrypoints.api import bodies
from support.api import Memory

JSON = {"content-type": "application/json"}


async def submit(client: httpx2.AsyncClient, body: str | bytes, **headers: str) -> httpx2.Response:
    """Send bytes as a job."""
    return await client.post("/v1/jobs", content=body, headers={**JSON, **headers})


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (r'{"type":"t","payload":{"a":"x\u0000y"}}', "/payload/a"),
        (r'{"type":"t","payload":{"x\u0000":1}}', "/payload"),
        (r'{"type":"t\u0000"}', "/type"),
        (r'{"type":"t","queue":"q\u0000"}', "/queue"),
        (r'{"type":"t","payload":{"a":"\ud800"}}', "/payload/a"),
        (r'{"type":"t","payload":{"\udc00":1}}', "/payload"),
        (r'{"type":"\ud800"}', "/type"),
        ('{"type":"t","payload":{"a":NaN}}', ""),
        ('{"type":"t","payload":{"a":Infinity}}', ""),
        ('{"type":"t","payload":{"a":-Infinity}}', ""),
        ('{"type":"t","payload":{"a":[0,1e400]}}', "/payload/a/1"),
        ('{"type":"t","type":"u"}', ""),
        ('{"type":"t","payload":{"a":1,"a":2}}', ""),
        ("{", ""),
        ("", ""),
        ("\ufeff{}", ""),
        ('{"type":"t"} x', ""),
        ('{"type":"t","payload":{"n":' + "9" * 5_000 + "}}", ""),
    ],
)
async def test_json_that_cannot_be_kept_is_refused(
    client: httpx2.AsyncClient, memory: Memory, body: str, pointer: str
) -> None:
    """B164, B165, B166: NUL, surrogates, no numbers, repeated keys, bad syntax: 400, and nothing is written."""
    answer = await submit(client, body)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "invalid_json")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert memory.database.jobs == {}


@pytest.mark.parametrize("body", ["{", "[]", '{"type":"\\ud800"}', '{"type":"t","type":"u"}', '{"type":"t"}'])
async def test_a_body_decoded_aside_is_judged_alike(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """Large bodies are decoded in a thread: by the same rules, with the same words."""
    here = await submit(client, body, **{"x-request-id": "r"})
    monkeypatch.setattr(bodies, "ASIDE_BYTES", 0)
    there = await submit(client, body, **{"x-request-id": "r"})
    assert (here.status_code, here.json().get("errors")) == (there.status_code, there.json().get("errors"))


@pytest.mark.parametrize("body", [b'{"type":"\xff"}', '{"type":"t"}'.encode("utf-16")])
async def test_only_utf_8_is_json(client: httpx2.AsyncClient, body: bytes) -> None:
    """Other encodings are refused rather than guessed."""
    assert (await submit(client, body)).json()["code"] == "invalid_json"


@pytest.mark.parametrize("depth", [65, 1_000, 20_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
async def test_deep_nesting_is_refused(
    client: httpx2.AsyncClient, depth: int, opening: str, closing: str
) -> None:
    """B170: A payload of more than 64 levels gives 400, however deep it is."""
    inside = opening * depth + ("" if opening == "[" else "1") + closing * depth
    answer = await submit(client, f'{{"type":"t","payload":{{"a":{inside}}}}}')
    assert answer.json()["code"] == "invalid_json"


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/jobs/batch"])
async def test_a_payload_may_have_64_levels(client: httpx2.AsyncClient, path: str) -> None:
    """B170: The request around a payload takes nothing from its depth, in a batch neither."""
    job = '{"type":"t","payload":' + '{"a":' * 64 + "1" + "}" * 64 + "}"
    body = job if path == "/v1/jobs" else f'{{"jobs":[{job}]}}'
    assert (await client.post(path, content=body, headers=JSON)).status_code == 201


@pytest.mark.parametrize(
    "payload",
    [
        '{"n":9007199254740993,"m":-9223372036854775809}',
        '{"a":"\\\\u0000"}',
        '{"a":"😀"}',
        '{"f":0.1,"g":1e+16,"h":-0.0}',
        '{"\u00e9":"NFC","e\u0301":"NFD"}',
    ],
)
async def test_a_payload_comes_back_byte_for_byte(client: httpx2.AsyncClient, payload: str) -> None:
    """B168: Integers of any size, escaped text and every character are the same in job and event."""
    assert (await submit(client, f'{{"type":"t","payload":{payload}}}')).status_code == 201
    for path in ("/v1/jobs/1", "/v1/jobs/1/events"):
        assert f'"payload":{payload}' in (await client.get(path)).text


async def test_stored_text_is_spliced_in_as_it_is(client: httpx2.AsyncClient, memory: Memory) -> None:
    """A payload that another program stored with other digits is not read and written again."""
    import attrs

    await submit(client, '{"type":"t"}')
    stored = '{"a": 1.10, "b":\t1E2}'
    memory.database.jobs[1] = attrs.evolve(memory.database.jobs[1], payload=stored, result="10.00")
    text = (await client.get("/v1/jobs/1")).text
    assert f'"payload":{stored},"result":10.00}}' in text


@pytest.mark.parametrize("payload", ["null", "5", '"x"', "[]", "true"])
async def test_a_payload_is_an_object(client: httpx2.AsyncClient, payload: str) -> None:
    """B173: Other JSON values are refused by name; the empty object is fine, and the default."""
    answer = await submit(client, f'{{"type":"t","payload":{payload}}}')
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/payload")
    assert (await submit(client, '{"type":"t","payload":{}}')).status_code == 201
    assert (await submit(client, '{"type":"t"}')).status_code == 201


@pytest.mark.parametrize("body", ["null", "5", "[]", '"x"'])
async def test_a_body_is_an_object(client: httpx2.AsyncClient, body: str) -> None:
    """Other JSON values are no request."""
    assert (await submit(client, body)).json()["errors"] == [{"pointer": "", "rule": "must be a JSON object"}]


async def test_a_payload_beyond_its_limit_is_named(client: httpx2.AsyncClient) -> None:
    """A payload of 100 kB is fine, one over 256 KiB is refused by name."""
    assert (await submit(client, json.dumps({"type": "t", "payload": {"a": "x" * 100_000}}))).is_success
    answer = await submit(client, json.dumps({"type": "t", "payload": {"a": "x" * 262_144}}))
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/payload")


async def _chunks(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // 65_536):
        yield b" " * 65_536


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_its_limit_is_refused(client: httpx2.AsyncClient, announced: bool) -> None:
    """B171: More than 1 MiB gives 413, whether its length was announced or not."""
    content: Any = b" " * 2_000_000 if announced else _chunks(2_000_000)
    answer = await client.post("/v1/jobs", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")


async def test_a_batch_may_be_larger_than_a_single_job(client: httpx2.AsyncClient) -> None:
    """Ten payloads of 200 kB are one batch."""
    jobs = [{"type": "t", "payload": {"a": "x" * 200_000}}] * 10
    assert (await client.post("/v1/jobs/batch", json={"jobs": jobs})).status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "multipart/form-data; boundary=x"},
        {"content-type": "application/json; charset=utf-16"},
        {"content-type": "application/jsonx"},
        {"content-type": ""},
        {},
        {**JSON, "content-encoding": "gzip"},
    ],
)
async def test_only_plain_json_is_taken(client: httpx2.AsyncClient, headers: dict[str, str]) -> None:
    """B171: Any other media type or encoding gives 415: what a form of another site could send is not even read."""
    answer = await client.post("/v1/jobs", content=b'{"type":"t"}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("media", ["application/json; charset=utf-8", 'APPLICATION/JSON;charset="UTF-8"'])
async def test_utf_8_may_be_named(client: httpx2.AsyncClient, media: str) -> None:
    """Clients that spell out the encoding are served."""
    answer = await client.post("/v1/jobs", content=b'{"type":"t"}', headers={"content-type": media})
    assert answer.status_code == 201
