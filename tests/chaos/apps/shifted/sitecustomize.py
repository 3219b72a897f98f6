"""Loaded by Python at its start: the wall clock of this process is wrong by CHAOS_SHIFT seconds."""

import datetime as dt
import os
import time
from datetime import datetime

SHIFT = float(os.environ["CHAOS_SHIFT"])
honest = time.time


class Shifted(type):
    """Takes real datetimes for its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        """Whatever is a datetime is one of ours."""
        return isinstance(instance, datetime)


class ShiftedDatetime(datetime, metaclass=Shifted):
    """A datetime whose ``now`` is wrong."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> datetime:  # type: ignore[override]  # as plain as possible
        """Return the wrong time."""
        return datetime.now(tz) + dt.timedelta(seconds=SHIFT)


time.time = lambda: honest() + SHIFT
dt.datetime = ShiftedDatetime  # type: ignore[misc]  # for everybody who imports it from now on
