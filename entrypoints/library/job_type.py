"""A job type: a handler with a typed ``submit``."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Unpack

from attrs import evolve, field, frozen

from ...application.signature import Signature
from ...application.submitting import Alike, SubmitRequest
from ...domain.errors import InvalidInput, InvalidItem
from .options import CALL, SubmitOptions, job_fields

if TYPE_CHECKING:
    from ...application.context import Context
    from ...application.ports.submitter import Submission, Submitted
    from .app import Fencepost

P = ParamSpec("P")


@frozen(eq=False)
class JobType(Generic[P]):
    """A registered handler; call it directly to run the function itself, without any queue.

    ``fields`` are the jobs' own options, ``call`` those of the call that submits: the transaction and who asks.
    """

    app: "Fencepost" = field(repr=False)
    name: str
    function: Callable[Concatenate["Context", P], Any]
    signature: Signature = field(repr=False)
    fields: Mapping[str, Any]
    call: Mapping[str, Any] = field(factory=dict)

    def options(self, **options: Unpack[SubmitOptions]) -> "JobType[P]":
        """Return the same type with options for its next submits; they never mix with the payload's arguments.

        Raises InvalidInput.
        """
        call = {name: value for name, value in options.items() if name in CALL}
        changed = evolve(self, fields={**self.fields, **job_fields(options)}, call={**self.call, **call})
        changed.check()
        return changed

    def request(self, /, *args: P.args, **kwargs: P.kwargs) -> SubmitRequest:
        """Return the job that ``submit`` would submit, for ``Fencepost.submit_many``.

        Raises InvalidInput when the arguments do not fit the handler's signature, or for an option of the call:
        ``submit_many`` takes those itself.
        """
        self._check_call()
        return self._request(args, kwargs)

    def template(self, payload: Mapping[str, Any]) -> SubmitRequest:
        """Return the job that a schedule makes again and again; raises InvalidInput, also for an option of the call."""
        self._check_call("must not be given: the schedule makes its jobs itself")
        return SubmitRequest(type=self.name, payload=self._by_name(payload), **self.fields)

    def requests(self, calls: Iterable[Mapping[str, Any]]) -> Sequence[SubmitRequest]:
        """Return a request for each of many calls, given as arguments by name; faster and smaller than one by one.

        Raises InvalidItem naming the index of a bad one, and InvalidInput as ``request`` does.
        """
        self._check_call()
        payloads: list[Mapping[str, Any]] = []
        for arguments in calls:
            try:
                payloads.append(self._by_name(arguments))
            except InvalidInput as error:
                raise InvalidItem(len(payloads), error) from error
        return Alike(SubmitRequest(type=self.name, **self.fields), payloads)

    async def submit(self, /, *args: P.args, **kwargs: P.kwargs) -> "Submitted":
        """Submit one job: durable when this returns, or bound to the transaction given as ``options(tx=…)``.

        Raises InvalidInput, KeyConflict, KeyInProgress, Unavailable, UnknownOutcome, MigrationsPending.
        """
        [answer] = await self.app.accept([self._submission(args, kwargs)], self.call.get("tx"))
        return answer

    def submit_sync(self, /, *args: P.args, **kwargs: P.kwargs) -> "Submitted":
        """Submit one job from synchronous code; raises as ``submit`` does."""
        [answer] = self.app.accept_sync([self._submission(args, kwargs)], self.call.get("tx"))
        return answer

    def check(self) -> None:
        """Check the options alone; raises InvalidInput."""
        unique = self.fields.get("unique")
        for name in (unique and unique.fields) or ():
            if name not in self.signature.parameters:
                raise InvalidInput("unique.fields", f"must name arguments of the handler, not {name!r}")
        fields = {name: value for name, value in self.fields.items() if name != "unique"}
        self.app.checked(SubmitRequest(type=self.name, **fields), self._origin())

    def __call__(self, context: "Context", /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Run the handler's function here and now."""
        return self.function(context, *args, **kwargs)

    def _submission(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> "Submission":
        return self.app.checked(self._request(args, kwargs), self._origin())

    def _check_call(self, rule: str = "must be given to submit_many") -> None:
        if self.call and (misplaced := [name for name, value in self.call.items() if value is not None]):
            raise InvalidInput(misplaced[0], rule)

    def _request(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> SubmitRequest:
        return SubmitRequest(type=self.name, payload=self._payload(args, kwargs), **self.fields)

    def _by_name(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if type(arguments) is not dict and not isinstance(arguments, Mapping):
            raise InvalidInput("payload", "must be arguments by name")
        return self._payload((), arguments)

    def _payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        payload = self.signature.payload(args, kwargs)
        if (unique := self.fields.get("unique")) is not None:
            # What decides about uniqueness has to be there, whether the caller wrote it down or left the default.
            payload = self.signature.completed(payload, unique.fields)
        return payload

    def _origin(self) -> Any:
        return self.app.origin(*(self.call.get(name) for name in ("actor", "request_id", "reason")))
