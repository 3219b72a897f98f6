"""A peer driven through a small Node script that speaks JSON lines on its standard streams."""

import asyncio
import json
import os
import subprocess
from asyncio.subprocess import Process
from datetime import datetime
from pathlib import Path
from typing import Any

from adapter import HERE, Adapter

MODULES = os.environ.setdefault(
    "PEERS_NODE_MODULES", str(HERE.parents[1] / ".cache" / "peers" / "node" / "node_modules")
)
"""The scripts read the same variable."""
PATIENCE = 300  # seconds for one answer
LINE = 1 << 20


class NodeAdapter(Adapter):
    """``script`` lies in js/ and runs as ``producer`` or as ``worker``."""

    script = ""
    proc: Process

    def worker_cmd(self, profile: str) -> list[str]:
        """Return the command of a worker."""
        return ["node", str(HERE / "js" / self.script), "worker", json.dumps(self.profiles[profile])]

    def version(self) -> str:
        """Return the installed version."""
        return str(json.loads((Path(MODULES) / self.package / "package.json").read_text())["version"])

    async def setup(self) -> None:
        """Create the schema."""
        await self._spawn()
        await self._call(op="setup")
        await self.close()

    async def open(self) -> None:
        """Start the producer and let it connect."""
        await self._spawn()
        await self._call(op="open")

    async def close(self) -> None:
        """End the producer."""
        assert self.proc.stdin
        self.proc.stdin.close()
        try:
            await asyncio.wait_for(self.proc.wait(), 5)
        except TimeoutError:
            self.proc.kill()
            await self.proc.wait()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        """Return the seconds as the script measured them."""
        return float((await self._call(op="bulk", first=first, n=n))["ns"]) / 1e9

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        """Return the moments as the script took them."""
        out = await self._call(op="one", seq=seq)
        return out["t0"], out["t1"]

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        """Hand over the times as ISO text."""
        await self._call(op="at", seqs=seqs, due=[d.isoformat() for d in due])

    async def _spawn(self) -> None:
        self.proc = await asyncio.create_subprocess_exec(
            "node",
            str(HERE / "js" / self.script),
            "producer",
            json.dumps(self.profiles[self.profile]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PEER_URL": self.url},
            limit=LINE,
        )

    async def _call(self, **message: Any) -> dict[str, Any]:
        assert self.proc.stdin
        assert self.proc.stdout
        self.proc.stdin.write((json.dumps(message) + "\n").encode())
        await self.proc.stdin.drain()
        line = await asyncio.wait_for(self.proc.stdout.readline(), PATIENCE)
        if not line:
            raise RuntimeError(f"{self.name}: the producer's script ended")
        out: dict[str, Any] = json.loads(line)
        if "error" in out:
            raise RuntimeError(out["error"])
        return out
