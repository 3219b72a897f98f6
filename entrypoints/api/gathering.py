"""How the API submits: the small submits of its many clients go to the database together."""

from typing import Any

from ...application.coalescing import CoalescingSubmitter
from ...domain.errors import FencepostError, InvalidInput
from ..container import Container
from ..injection import providers
from ..schema import missing


def gathering(container: Container) -> "providers.Factory[CoalescingSubmitter]":
    """Return the provider of a submitter that gathers what the container's own one then writes."""
    return providers.Factory(CoalescingSubmitter, container.submitter, providers.Object(blames_values))


def blames_values(error: Exception) -> bool:
    """Whether the database refused a statement, perhaps for one of its rows, and so wrote nothing.

    What a trigger or a constraint of the user's raises for one job is no reason to refuse the jobs beside it.
    """
    if isinstance(error, FencepostError):
        return isinstance(error, InvalidInput)
    sqlstate: Any = getattr(error, "sqlstate", None)
    return sqlstate is not None and not missing(error)
