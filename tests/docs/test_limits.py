"""The guide's numbers are those of the program."""

import pytest

from fencepost.application.reaping import EVERY
from fencepost.application.worker.settings import HEARTBEATS_PER_LEASE
from fencepost.domain import limits
from fencepost.domain.retry import RETRY_DEFAULT
from fencepost.domain.values import check_name
from support.repository import ROOT

SEMANTICS = (ROOT / "docs" / "guide" / "semantics.md").read_text()
OPERATING = (ROOT / "docs" / "guide" / "operating.md").read_text()
SUBMITTING = (ROOT / "docs" / "guide" / "submitting.md").read_text()
ROWS = [
    f"| payload | a JSON object, ≤ {limits.PAYLOAD_BYTES // 1024} KiB, nested ≤ {limits.NESTING} deep |",
    f"| result | any JSON value, ≤ {limits.RESULT_BYTES // 1024} KiB |",
    f"| error | ≤ {limits.ERROR_BYTES // 1024} KiB, cut and cleaned |",
    f"| submit key, effect key | 1 to {limits.KEY_LENGTH} characters, not blank |",
    f"| actor, request id, reason, build | ≤ {limits.TEXT_LENGTH:,} characters |",
    f"| priority | {limits.PRIORITY_MIN} to {limits.PRIORITY_MAX} |",
    f"| `max_attempts` | 1 to {limits.MAX_ATTEMPTS_LIMIT:,} |",
    f"| lease | {limits.LEASE_MIN.total_seconds() * 1000:g} ms to {limits.LEASE_MAX.days} day |",
    f"| any delay, timeout, wait | ≤ {limits.DURATION_MAX.days // 366} years |",
    f"| `run_at` | {limits.EARLIEST.year} to {limits.LATEST.year}, with an offset |",
    f"| jobs in one HTTP batch | {limits.BATCH_JOBS:,} (the library splits larger ones, in one transaction) |",
    f"| snoozes and hand-backs in a row | {limits.IDLE_RETURNS:,} |",
    f"| these two requests are one | {limits.SUBMIT_KEY_LIFE.days} days, also when the job is done |",
    f"| `Exponential(base={RETRY_DEFAULT.base.seconds} s, cap={RETRY_DEFAULT.cap.seconds} s)`, the default |",
]
DEFAULTS = [
    ("priority", str(limits.PRIORITY_DEFAULT)),
    ("max_attempts", str(limits.MAX_ATTEMPTS_DEFAULT)),
    ("timeout", f"{limits.TIMEOUT_DEFAULT.total_seconds() / 3600:g} h"),
    ("lease", f"{limits.LEASE_DEFAULT.total_seconds():g} s"),
]


@pytest.mark.parametrize("row", ROWS)
def test_the_guide_states_the_limits_as_they_are(row: str) -> None:
    """A limit that changes has to change there, too."""
    assert row in SEMANTICS


def test_the_guide_states_the_default_recovery_as_it_is() -> None:
    """Lease, period of the reaper, their sum, and a heartbeat every third of the lease."""
    lease, every = limits.LEASE_DEFAULT.total_seconds(), EVERY.total_seconds()
    beat = lease / HEARTBEATS_PER_LEASE
    assert f"| default | {lease:g} s | {every:g} s | {lease + every:g} s | every {beat:g} s |" in OPERATING


@pytest.mark.parametrize(("option", "default"), DEFAULTS)
def test_the_guide_states_the_defaults_as_they_are(option: str, default: str) -> None:
    """In the table of options."""
    [row] = [line for line in SUBMITTING.splitlines() if line.startswith(f"| `{option}` |")]
    assert row.endswith(f"| {default} |")


def test_names_are_as_the_guide_says() -> None:
    """The letters and signs it lists, and 128 of them."""
    assert "| type, queue | 1 to 128 of `A-Z a-z 0-9 . _ : / -` |" in SEMANTICS
    assert check_name("type", "Az09._:/-" + "x" * 119)
