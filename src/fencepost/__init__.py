"""Fencepost: a distributed job scheduler on PostgreSQL that can prove what it did.

Public names are loaded when first used, so that `import fencepost` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .application.context import Context as Context
    from .application.handlers import Discard as Discard
    from .application.handlers import Retry as Retry
    from .application.handlers import Snooze as Snooze
    from .application.submitting import Unique as Unique
    from .domain.errors import FencepostError as FencepostError
    from .domain.errors import InvalidInput as InvalidInput
    from .domain.errors import JobNotFound as JobNotFound
    from .domain.errors import KeyConflict as KeyConflict
    from .domain.errors import LeaseLost as LeaseLost
    from .domain.errors import Unavailable as Unavailable
    from .domain.errors import UnknownOutcome as UnknownOutcome
    from .domain.errors import WrongState as WrongState
    from .domain.retry import Constant as Constant
    from .domain.retry import Delays as Delays
    from .domain.retry import Exponential as Exponential
    from .entrypoints.library.app import Fencepost as Fencepost

__version__ = "0.1.0"

# public name -> module that defines it, relative to this package
_PUBLIC: dict[str, str] = {
    "Constant": ".domain.retry",
    "Context": ".application.context",
    "Delays": ".domain.retry",
    "Discard": ".application.handlers",
    "Exponential": ".domain.retry",
    "Fencepost": ".entrypoints.library.app",
    "FencepostError": ".domain.errors",
    "InvalidInput": ".domain.errors",
    "JobNotFound": ".domain.errors",
    "KeyConflict": ".domain.errors",
    "LeaseLost": ".domain.errors",
    "Retry": ".application.handlers",
    "Snooze": ".application.handlers",
    "Unavailable": ".domain.errors",
    "Unique": ".application.submitting",
    "UnknownOutcome": ".domain.errors",
    "WrongState": ".domain.errors",
}


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_PUBLIC[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
