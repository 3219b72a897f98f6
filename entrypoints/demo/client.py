"""The demo as a client of the HTTP API."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx2
from attrs import frozen

from .plan import Chunk

BATCH = 500
READY_WITHIN = 30.0


@frozen
class Client:
    """Speaks to one API process."""

    http: httpx2.AsyncClient

    async def ready(self) -> None:
        """Wait until the API answers that it is ready; raises TimeoutError."""
        async with asyncio.timeout(READY_WITHIN):
            while not await self._is_ready():  # noqa: ASYNC110 - another process becomes ready
                await asyncio.sleep(0.05)

    async def _is_ready(self) -> bool:
        try:
            return (await self.http.get("/readyz")).status_code == 200
        except httpx2.TransportError:
            return False

    async def submit(self, chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
        """Submit in batches and return an answer for each chunk, in order."""
        answers = []
        for start in range(0, len(chunks), BATCH):
            jobs = [chunk.request() for chunk in chunks[start : start + BATCH]]
            response = await self.http.post("/v1/jobs/batch", json={"jobs": jobs})
            response.raise_for_status()
            answers += response.json()["jobs"]
        return answers

    async def result(self, job_id: int) -> Any:
        """Return a job's result."""
        response = await self.http.get(f"/v1/jobs/{job_id}")
        response.raise_for_status()
        return response.json()["result"]
