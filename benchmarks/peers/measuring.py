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
    peer = importlib.import_module(f"adapters.{system}").Peer
    if peer.backend != "postgres":
        return await _measured(peer(redis), system, scenario, options)
    name = f"peer_{system}_{scenario}_{options.profile}" if scenario in WITH_PROFILE else f"peer_{system}"
    try:
        return await _measured(peer(recreate_database(dsn, name)), system, scenario, options)
    finally:
        drop_database(dsn, name)


async def _measured(adapter: Adapter, system: str, scenario: str, options: Options) -> dict[str, Any]:
    result = {
        "system": system,
        "name": adapter.name,
        "version": adapter.version(),
        "scenario": scenario,
        "backend": adapter.backend,
        "settings": adapter.settings,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "load": os.getloadavg()[0],
    }
    if scenario not in adapter.scenarios:
        return {**result, "skipped": "not offered by this peer"}
    if scenario in WITH_PROFILE and options.profile not in adapter.profiles:
        return {**result, "profile": options.profile, "skipped": f"no profile {options.profile}"}
    adapter.profile = options.profile if scenario == "crash" else "best"
    try:
        await adapter.setup()
        return {**result, **await SCENARIOS[scenario](adapter, options)}
    except Exception as error:  # noqa: BLE001 - whatever a peer raises
        traceback.print_exc()
        return {**result, "error": f"{type(error).__name__}: {error}"[:LONGEST_ERROR]}
    finally:
        await adapter.teardown()
        adapter.drop_admin()
