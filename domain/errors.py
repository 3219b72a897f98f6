"""Everything Fencepost raises on purpose.

FencepostError
├── InvalidInput            a value breaks a rule (field, rule)
│   └── InvalidItem         the same inside a batch (index)
├── WrongState              the job's state does not allow the command
├── JobBusy                 somebody else holds the job's row
├── JobNotFound
├── ScheduleNotFound
├── BackfillNotFound
├── ScheduleExists          a schedule of this name is defined otherwise
├── ScheduleUnreadable      nobody can read a schedule's stored definition
├── VersionConflict         somebody else changed it first
├── KeyConflict             a submit key was used for another request
├── KeyInProgress           the first request with the key has not finished
├── UnknownOutcome          the reply to COMMIT was lost
├── Unavailable             the database can't be reached
│   ├── TooSlow             it gave a statement up that took too long
│   └── Overloaded          too much waits for it already
├── LeaseLost               the handler's attempt is no longer the job's
└── HistoryError            an event that no rule allows
"""


class FencepostError(Exception):
    """Root of the errors that callers may expect."""


class InvalidInput(FencepostError):
    """A value breaks a rule; names the field and the rule."""

    def __init__(self, field: str, rule: str, inside: tuple[str | int, ...] = ()) -> None:
        """Name the field by a dotted path such as ``retry.base`` and say what must hold.

        ``inside`` leads on into a JSON value: the whole document when ``field`` is empty. ``path`` has every step;
        ``field`` is for people, since keys may hold dots.
        """
        self.path: tuple[str | int, ...] = (*(field.split(".") if field else ()), *inside)
        self.field = field + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in inside)
        self.rule = rule
        super().__init__(f"{self.field}: {rule}")


class InvalidItem(InvalidInput):
    """An item of a batch breaks a rule; ``index`` counts from 0."""

    def __init__(self, index: int, error: InvalidInput) -> None:
        """Prefix the field's path with the item's index."""
        super().__init__(f"[{index}].{error.field}", error.rule)
        self.path = (index, *error.path)
        self.index = index
        self.item_field = error.field


class WrongState(FencepostError):
    """The job's state does not allow this command."""


class JobBusy(FencepostError):
    """The job's row stayed locked by somebody else; nothing was changed, try again."""


class JobNotFound(FencepostError):
    """There is no such job."""


class ScheduleNotFound(FencepostError):
    """There is no such schedule."""


class BackfillNotFound(FencepostError):
    """There is no such backfill."""


class ScheduleExists(FencepostError):
    """A schedule of this name is there, and is defined otherwise."""


class ScheduleUnreadable(FencepostError):
    """A schedule's stored definition can't be read: it can be paused, deleted, or defined anew as a whole."""

    def __init__(self, name: str, fault: str) -> None:
        """Name the schedule, and say what is wrong with it."""
        super().__init__(
            f"schedule {name} can't be read ({fault}): delete it, or replace its definition as a whole"
        )


class VersionConflict(FencepostError):
    """Somebody else changed it since it was read; nothing was changed."""


class KeyConflict(FencepostError):
    """This submit key was already used for a different request."""


class KeyInProgress(FencepostError):
    """The first request with this submit key has not finished yet."""


class UnknownOutcome(FencepostError):
    """The reply to COMMIT was lost: the change may or may not be there; repeat it with its key."""


class Unavailable(FencepostError):
    """The database cannot be reached or refuses to write; nothing was changed."""


class TooSlow(Unavailable):
    """The database gave a statement up that took too long; nothing was changed, and less at a time may work."""


class Overloaded(Unavailable):
    """Too much is waiting for the database already; nothing was changed, try again later."""


class LeaseLost(FencepostError):
    """This attempt no longer holds the job; what it writes under the lease is rolled back."""


class HistoryError(FencepostError):
    """An event does not follow from the job it is applied to."""
