"""Every bound of the system in one place: a limit on everything."""

from datetime import UTC, datetime, timedelta

PRIORITY_MIN = 0
PRIORITY_MAX = 9
PRIORITY_DEFAULT = 5
MAX_ATTEMPTS_DEFAULT = 5
MAX_ATTEMPTS_LIMIT = 32_000
NAME_PATTERN = r"[A-Za-z0-9._:/-]{1,128}"
KEY_LENGTH = 255
TEXT_LENGTH = 2_000
"""Characters of an actor, a request id, a reason or a build."""
PAYLOAD_BYTES = 256 * 1024
RESULT_BYTES = 256 * 1024
ERROR_BYTES = 8 * 1024
NESTING = 64
BATCH_JOBS = 1_000
"""Jobs in one HTTP batch; the library splits larger ones."""
IDLE_RETURNS = 1_000
"""Snoozes and releases in a row before they count as failures."""
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
LEASE_DEFAULT = timedelta(seconds=30)
LEASE_MIN = timedelta(milliseconds=100)
LEASE_MAX = timedelta(days=1)
TIMEOUT_DEFAULT = timedelta(hours=1)
DURATION_MAX = timedelta(days=366 * 100)
"""No delay, timeout or backoff is longer, so that sums of times stay inside the calendar."""
CANCEL_GRACE = timedelta(seconds=30)
DECISION_GRACE = timedelta(seconds=60)
"""A fire time that has waited longer than this for its decision is late."""
SUBMIT_KEY_LIFE = timedelta(days=7)
