"""One system, one scenario, one fresh database: one line of results."""

import importlib
import os
import traceback
from datetime import UTC, datetime
from typing import Any

from adapter import Adapter
from databases import drop_database, recreate_database
from scenarios import SCENARIOS, WITH_PROFILE
from scenarios.options import Options

LONGEST_ERROR = 1_500


async def measured(system: str, scenario: str, options: Options, dsn: str, redis: str) -> dict[str, Any]:
    """Return the figures with the circumstances; a failure becomes ``error``, so that it does not end the run."""
    result: dict[str, Any] = {
        "system": system,
        "scenario": scenario,
        **({"profile": options.profile} if _has_profile(scenario, options) else {}),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "load": os.getloadavg()[0],
    }
    try:
        peer = importlib.import_module(f"adapters.{system}").Peer
        result |= {"name": peer.name, "backend": peer.backend, "settings": peer.settings}
        if scenario not in peer.scenarios:
            return {**result, "skipped": "not offered by this peer"}
        if scenario in WITH_PROFILE and options.profile not in peer.profiles:
            return {**result, "skipped": f"no profile {options.profile}"}
        if peer.backend != "postgres":
            return {**result, **await _figures(peer(redis), scenario, options)}
        return {**result, **await _in_database(peer, f"peer_{system}_{scenario}", scenario, options, dsn)}
    except Exception as error:  # noqa: BLE001 - whatever a peer raises, or that it is not installed
        traceback.print_exc()
        return {**result, "error": f"{type(error).__name__}: {error}"[:LONGEST_ERROR]}


def _has_profile(scenario: str, options: Options) -> bool:
    """Tell whether results are to be kept apart by profile: always those of crash."""
    return scenario == "crash" or (scenario in WITH_PROFILE and options.profile != "best")


async def _in_database(
    peer: type[Adapter], name: str, scenario: str, options: Options, dsn: str
) -> dict[str, Any]:
    try:
        return await _figures(peer(recreate_database(dsn, name)), scenario, options)
    finally:
        drop_database(dsn, name)


async def _figures(adapter: Adapter, scenario: str, options: Options) -> dict[str, Any]:
    if scenario == "crash":  # recovery may depend on how jobs are made
        adapter.profile = options.profile
    version = adapter.version()
    try:
        await adapter.setup()
        return {"version": version, **await SCENARIOS[scenario](adapter, options)}
    finally:
        await adapter.teardown()
        adapter.drop_admin()
