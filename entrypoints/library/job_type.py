"""A job type: a handler with a typed ``submit``."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Unpack

from attrs import evolve, frozen

from ...application.signature import Signature
from ...application.submitting import SubmitRequest
from ...domain.commands import Origin
from .options import SubmitOptions, job_fields

if TYPE_CHECKING:
    from ...application.context import Context
    from ...application.ports.submitter import Submitted
    from .app import Fencepost

P = ParamSpec("P")


@frozen
class JobType(Generic[P]):
    """A registered handler; call it directly to run the function itself, without any queue."""

    app: "Fencepost"
    name: str
    function: Callable[Concatenate["Context", P], Any]
    signature: Signature
    chosen: Mapping[str, Any]

    def options(self, **options: Unpack[SubmitOptions]) -> "JobType[P]":
        """Return the same type with options for its next submits; they never mix with the payload's arguments."""
        return evolve(self, chosen={**self.chosen, **options})

    def request(self, *args: P.args, **kwargs: P.kwargs) -> SubmitRequest:
        """Return the job that ``submit`` would submit, for ``Fencepost.submit_many``.

        Raises InvalidInput when the arguments do not fit the handler's signature, or an option breaks its rule.
        """
        payload = self.signature.payload(args, kwargs)
        return SubmitRequest(type=self.name, payload=payload, **job_fields(self.chosen))

    async def submit(self, *args: P.args, **kwargs: P.kwargs) -> "Submitted":
        """Submit one job: durable when this returns, or bound to the transaction given as ``options(tx=…)``.

        Raises InvalidInput, KeyConflict, KeyInProgress, Unavailable, UnknownOutcome.
        """
        [answer] = await self.app.submit_requests([self.request(*args, **kwargs)], self.origin, self.tx)
        return answer

    def submit_sync(self, *args: P.args, **kwargs: P.kwargs) -> "Submitted":
        """Submit one job from synchronous code; raises as ``submit`` does."""
        [answer] = self.app.submit_requests_sync([self.request(*args, **kwargs)], self.origin, self.tx)
        return answer

    @property
    def tx(self) -> object | None:
        """The caller's transaction, if one was given."""
        tx: object | None = self.chosen.get("tx")
        return tx

    @property
    def origin(self) -> Origin:
        """Who submits, as far as the options say."""
        return self.app.origin(
            self.chosen.get("actor"), self.chosen.get("request_id"), self.chosen.get("reason")
        )

    def __call__(self, context: "Context", *args: P.args, **kwargs: P.kwargs) -> Any:
        """Run the handler's function here and now."""
        return self.function(context, *args, **kwargs)
