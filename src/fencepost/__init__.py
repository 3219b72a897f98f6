"""Fencepost: a distributed job scheduler on PostgreSQL that can prove what it did.

Public names are loaded when first used, so that `import fencepost` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .application.annotations import BadHandler as BadHandler
    from .application.context import Context as Context
    from .application.handlers import Discard as Discard
    from .application.handlers import HandlerClash as HandlerClash
    from .application.handlers import Retry as Retry
    from .application.handlers import Snooze as Snooze
    from .application.ports.submitter import Submitted as Submitted
    from .application.submitting import SubmitRequest as SubmitRequest
    from .application.submitting import Unique as Unique
    from .domain.errors import FencepostError as FencepostError
    from .domain.errors import InvalidInput as InvalidInput
    from .domain.errors import InvalidItem as InvalidItem
    from .domain.errors import JobBusy as JobBusy
    from .domain.errors import JobNotFound as JobNotFound
    from .domain.errors import KeyConflict as KeyConflict
    from .domain.errors import KeyInProgress as KeyInProgress
    from .domain.errors import LeaseLost as LeaseLost
    from .domain.errors import Unavailable as Unavailable
    from .domain.errors import UnknownOutcome as UnknownOutcome
    from .domain.errors import WrongState as WrongState
    from .domain.job import Job as Job
    from .domain.retry import Constant as Constant
    from .domain.retry import Delays as Delays
    from .domain.retry import Exponential as Exponential
    from .domain.vocabulary import State as State
    from .entrypoints.library.app import Fencepost as Fencepost
    from .entrypoints.library.job_type import JobType as JobType
    from .entrypoints.schema import MigrationsPending as MigrationsPending

__version__ = "0.1.0"

# public name -> module that defines it, relative to this package
_PUBLIC: dict[str, str] = {
    "BadHandler": ".application.annotations",
    "Constant": ".domain.retry",
    "Context": ".application.context",
    "Delays": ".domain.retry",
    "Discard": ".application.handlers",
    "Exponential": ".domain.retry",
    "Fencepost": ".entrypoints.library.app",
    "FencepostError": ".domain.errors",
    "HandlerClash": ".application.handlers",
    "InvalidInput": ".domain.errors",
    "InvalidItem": ".domain.errors",
    "Job": ".domain.job",
    "JobBusy": ".domain.errors",
    "JobNotFound": ".domain.errors",
    "JobType": ".entrypoints.library.job_type",
    "KeyConflict": ".domain.errors",
    "KeyInProgress": ".domain.errors",
    "LeaseLost": ".domain.errors",
    "MigrationsPending": ".entrypoints.schema",
    "Retry": ".application.handlers",
    "Snooze": ".application.handlers",
    "State": ".domain.vocabulary",
    "SubmitRequest": ".application.submitting",
    "Submitted": ".application.ports.submitter",
    "Unavailable": ".domain.errors",
    "Unique": ".application.submitting",
    "UnknownOutcome": ".domain.errors",
    "WrongState": ".domain.errors",
}

__all__ = sorted(_PUBLIC)  # noqa: PLE0605 - the list is right above


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_PUBLIC[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
