"""Settings: defaults < ``fencepost.toml`` < environment < flags, merged as raw text and built once."""

import difflib
import os
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import environ

from ..domain.durations import duration
from ..domain.errors import InvalidInput
from ..domain.values import check_integer, check_name

PREFIX = "FENCEPOST_"
PROCESSES_MOST = 64
LIBPQ = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE", "PGUSER")


def _span(name: str):  # type: ignore[no-untyped-def]  # environ-config is untyped
    return lambda value: duration(name, value)


def _period(name: str):  # type: ignore[no-untyped-def]  # environ-config is untyped
    def convert(value: object) -> timedelta:
        period = duration(name, value)
        if not period:
            raise InvalidInput(name, "must be above 0")
        return period

    return convert


def _number(name: str, least: int, most: int):  # type: ignore[no-untyped-def]  # environ-config is untyped
    def convert(value: object) -> int:
        return check_integer(name, int(str(value)) if str(value).isdecimal() else value, least, most)

    return convert


def _switch(name: str):  # type: ignore[no-untyped-def]  # environ-config is untyped
    def convert(value: object) -> bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if (word := str(value).lower()) not in words:
            raise InvalidInput(name, "must be true or false")
        return words[word]

    return convert


def _slots(value: object) -> dict[str, int] | None:
    """Read ``mail:20,default:5`` or a table; a queue without a number gets 10 slots.

    Names may contain colons; such a name takes a number, so that a mistyped number does not become a queue.
    """
    if value is None:
        return None
    if isinstance(value, dict):
        return {
            check_name("queues", str(name)): check_integer("queues", number, 1, 10_000)
            for name, number in value.items()
        }
    slots = {}
    for part in str(value).split(","):
        name, colon, number = part.strip().rpartition(":")
        if not colon:
            name, number = number, "10"
        if not number.isdecimal():
            raise InvalidInput(
                "queues", f"must have a whole number of slots after the last colon, not {number!r}"
            )
        slots[_queue_name(name)] = check_integer("queues", int(number), 1, 10_000)
    return slots


def _queue_name(name: str) -> str:
    try:
        return check_name("queues", name)
    except InvalidInput as error:
        rule = f"must be names and slots such as mail:20,default:5, and {name[:100]!r} is no name"
        raise InvalidInput("queues", rule) from error


@environ.config(prefix="FENCEPOST", frozen=True)
class Settings:
    """Everything that can be set; each field is FENCEPOST_<NAME> in the environment, <name> in the file."""

    database_url: str | None = environ.var(default=None, help="where PostgreSQL is; may carry a password")
    schema: str = environ.var(default="fencepost", help="the schema that holds our tables")
    pooler: bool = environ.var(
        default=False,
        converter=_switch("pooler"),
        help="behind a transaction pooler: no LISTEN, no prepared statements",
    )
    wakeups: bool = environ.var(
        default=True,
        converter=_switch("wakeups"),
        help="whoever submits tells idle workers at once; without it they find new jobs when they next poll",
    )
    data_dir: str = environ.var(default=".fencepost", help="folder of the embedded PostgreSQL")
    pg_bindir: str | None = environ.var(default=None, help="folder of the server programs to embed")
    queues: dict[str, int] | None = environ.var(
        default=None,
        converter=_slots,
        help="queues and slots of a worker: mail:20,default:5 (what follows the last colon is the number of slots; "
        "10 without a colon); else what its handlers name, 10 slots each",
    )
    processes: int = environ.var(
        default=1,
        converter=_number("processes", 1, PROCESSES_MOST),
        help="worker processes under one supervisor; each has connections and slots of its own",
    )
    allow_shell: bool = environ.var(
        default=False,
        converter=_switch("allow_shell"),
        help="a worker runs jobs of type shell.run: command lines, as its own user",
    )
    build: str | None = environ.var(default=None, help="the deployed version; kept in a worker's events")
    heartbeat: timedelta | None = environ.var(
        default=None,
        converter=lambda value: None if value is None else duration("heartbeat", value),
        help="period of a worker's heartbeats; else a third of the shortest lease held",
    )
    drain_grace: timedelta = environ.var(
        default="30s", converter=_span("drain_grace"), help="time to finish on a stop"
    )
    poll: timedelta = environ.var(default="1s", converter=_period("poll"), help="fallback poll of a worker")
    reap_every: timedelta = environ.var(
        default="2s", converter=_period("reap_every"), help="period of the reaper"
    )
    api_host: str = environ.var(default="127.0.0.1", help="address of the HTTP API; loopback only")
    api_port: int = environ.var(
        default=8470, converter=_number("api_port", 0, 65535), help="port of the HTTP API"
    )


def names() -> list[str]:
    """Return the names of all settings."""
    return list(Settings.__annotations__)


def load(
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    file: Path = Path("fencepost.toml"),
) -> Settings:
    """Merge the sources and build the settings.

    Raises InvalidInput for a name that does not exist (with the nearest one) and for a value that breaks its rule.
    """
    environment = os.environ if environment is None else environment
    merged: dict[str, Any] = {}
    if file.is_file():
        merged |= {_known(name, str(file)): value for name, value in _parsed(file).items()}
    merged |= {
        _known(name.removeprefix(PREFIX).lower(), "the environment"): value
        for name, value in environment.items()
        if name.startswith(PREFIX) and not name.startswith(PREFIX + "TEST_")
    }
    merged |= {_known(name, "flags"): value for name, value in (flags or {}).items() if value is not None}
    return environ.to_config(Settings, {PREFIX + name.upper(): value for name, value in merged.items()})


def _parsed(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(str(file), f"must be TOML: {error}") from error


def database_url(settings: Settings, environment: Mapping[str, str] | None = None) -> str | None:
    """Return where PostgreSQL is: our setting, DATABASE_URL, libpq's PG* (an empty string), or None: embed one."""
    environment = os.environ if environment is None else environment
    if settings.database_url:
        return settings.database_url
    if url := environment.get("DATABASE_URL"):
        return url
    return "" if any(name in environment for name in LIBPQ) else None


def _known(name: str, source: str) -> str:
    if name in names():
        return name
    nearest = difflib.get_close_matches(name, names(), 1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    raise InvalidInput(name, f"is not a setting (in {source}){hint}")
