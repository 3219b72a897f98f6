"""Variables that mean something to a cron, and what they mean here."""

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"[ \t]#")
_OUTPUT = "what a command prints is kept with its job"
_NO_MAIL = ("MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING")
_ONLY_PASSED = ("MLS_LEVEL", "SELINUX_ROLE_TYPE", "XDG_SESSION_CLASS")
_DIFFERENT = {
    "TZ": "TZ is passed to the commands, as in cron; CRON_TZ is what sets the zone of the times",
    "LOGNAME": "LOGNAME is ignored, as in cron",
    "RANDOM_DELAY": "RANDOM_DELAY is not applied; give the schedules a jitter instead",
    "START_HOURS_RANGE": "START_HOURS_RANGE is not applied; write the hours into the time fields instead",
    "PERSISTENT": "PERSISTENT is not applied; the schedules' missed policy decides instead",
    **{name: f"{name} is not used: no mail is sent; {_OUTPUT}" for name in _NO_MAIL},
    **{name: f"{name} is passed to the commands and does nothing else" for name in _ONLY_PASSED},
}


def differences(name: str, value: str) -> Iterator[str]:
    """Yield what people should know about a setting."""
    if name == "MAILTO":
        to = f"to {value[:100]}" if value else "here either"
        yield f"MAILTO: no mail is sent {to}; {_OUTPUT}"
    elif name == "CRON_TZ":
        whose = f"of {value}" if value else "of the default zone again"
        yield f"CRON_TZ: the times below are those {whose}, as in cronie; Debian's cron ignores it"
    elif name in _DIFFERENT:
        yield _DIFFERENT[name]
    if _COMMENT.search(value):
        yield f"{name}: the # belongs to the value, as in cron; a comment needs a line of its own"
