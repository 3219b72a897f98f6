"""What a requeue may change of a job."""

from typing import Annotated

from attrs import frozen
from cyclopts import Parameter

from ...domain.commands import Requeue
from .flags import NewPayload
from .inputs import json_text
from .session import origin


@Parameter(name="*")
@frozen(kw_only=True)
class Changes:
    """The flags of every requeue."""

    payload: NewPayload = None
    fresh_effect_key: Annotated[
        bool | None,
        Parameter(
            name="--fresh-effect-key",
            negative="--keep-effect-key",
            help="Whether the effect may happen again; must be chosen for jobs that succeeded.",
        ),
    ] = None

    def requeue(self, reason: str | None) -> Requeue:
        """Return the operation; raises InvalidInput."""
        return Requeue(
            origin=origin(reason),
            payload=None if self.payload is None else json_text("payload", self.payload),
            fresh_effect_key=self.fresh_effect_key,
        )


UNCHANGED = Changes()
