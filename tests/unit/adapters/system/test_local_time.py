"""The machine's clocks."""

from datetime import UTC

from fencepost.adapters.system.local_time import SystemTime


async def test_the_monotonic_clock_covers_a_sleep() -> None:
    """It moves forward at least as far as was slept."""
    time = SystemTime()
    before = time.monotonic()
    await time.sleep(0.02)
    assert time.monotonic() - before >= 0.019


def test_the_wall_clock_is_in_utc() -> None:
    """No naive datetimes anywhere."""
    assert SystemTime().wall().tzinfo is UTC
