"""Submitting: what a caller asks for becomes a checked submission, or an error naming field and rule."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Any, overload

import msgspec
from attrs import define, evolve, field, frozen

from ..domain import facts
from ..domain.commands import Origin, Submit
from ..domain.durations import Duration, duration
from ..domain.errors import InvalidInput, InvalidItem
from ..domain.job import Specification
from ..domain.limits import (
    LEASE_DEFAULT,
    MAX_ATTEMPTS_DEFAULT,
    PAYLOAD_BYTES,
    PRIORITY_DEFAULT,
    TIMEOUT_DEFAULT,
)
from ..domain.retry import RETRY_DEFAULT, RetryPolicy, microseconds
from ..domain.submission import check_submit
from ..domain.values import check_duration, check_key, encode
from .ports.runs import Run, Runs
from .ports.submitter import Submission, SubmitKey, Submitted, Submitter

_encode = msgspec.json.Encoder().encode

SUBMIT_OPERATION = "jobs.submit"
"""The operation that submit keys of single jobs are scoped to, whichever surface they come through."""


def _names(given: Iterable[str] | None) -> tuple[str, ...] | None:
    if isinstance(given, str):  # its letters, which nobody means
        raise InvalidInput("unique.fields", "must be a list of names")
    return None if given is None else tuple(given)


def _period(given: Duration | None) -> timedelta | None:
    if given is None:
        return None
    return check_duration("unique.period", duration("unique.period", given), timedelta(milliseconds=1))


@frozen(kw_only=True)
class Unique:
    """At most one unfinished job per (type, named payload fields, queue); with ``period``, one per that long.

    ``fields`` None means the whole payload.
    """

    fields: tuple[str, ...] | None = field(default=None, converter=_names)
    period: timedelta | None = field(default=None, converter=_period)
    across_queues: bool = False


@frozen(kw_only=True, slots=False)
class SubmitRequest:
    """One job as a caller describes it, typed but unchecked."""

    # Without slots, as a frozen object is made twice as fast, and there may be a million of them.

    type: str
    payload: Mapping[str, Any] = field(factory=dict)
    queue: str = "default"
    priority: int = PRIORITY_DEFAULT
    run_at: datetime | None = None
    delay: timedelta | None = None
    max_attempts: int = MAX_ATTEMPTS_DEFAULT
    timeout: timedelta | None = TIMEOUT_DEFAULT
    lease: timedelta = LEASE_DEFAULT
    retry: RetryPolicy = RETRY_DEFAULT
    effect_key: str | None = None
    key: str | None = None
    unique: Unique | None = None


@frozen
class Alike(Sequence[SubmitRequest]):
    """Requests that differ in nothing but their payloads: made when they are looked at, so that many cost little."""

    pattern: SubmitRequest
    payloads: Sequence[Mapping[str, Any]]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.payloads)

    @overload
    def __getitem__(self, index: int) -> SubmitRequest: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[SubmitRequest]: ...

    def __getitem__(self, index: int | slice) -> SubmitRequest | Sequence[SubmitRequest]:
        """Return one, or some."""
        if isinstance(index, slice):
            return Alike(self.pattern, self.payloads[index])
        return evolve(self.pattern, payload=self.payloads[index])


def submission(request: SubmitRequest, origin: Origin, principal: str) -> Submission:
    """Check a request and turn it into a submission; raises InvalidInput."""
    return _checked(request, _payload(request.payload), origin, principal)


def submissions(requests: Iterable[SubmitRequest], origin: Origin, principal: str) -> Runs:
    """Check a batch; raises InvalidItem for the first bad request."""
    if isinstance(requests, Alike) and len(requests) > 1 and _may_repeat(requests.pattern):
        return _alike(requests, origin, principal)
    desk = _Desk(origin, principal)
    for index, request in enumerate(requests):
        try:
            desk.take(request)
        except InvalidInput as error:
            raise InvalidItem(index, error) from error
    return Runs(desk.runs)


def _alike(requests: Alike, origin: Origin, principal: str) -> Runs:
    """Check the first one, then nothing but payloads."""
    checked = submissions(requests[:1], origin, principal)
    texts = checked.runs[0].payloads
    for payload in islice(requests.payloads, 1, None):
        try:
            texts.append(_payload(payload))
        except InvalidInput as error:
            raise InvalidItem(len(texts), error) from error
    return Runs([Run(checked[0], texts)])


@define
class _Desk:
    """Takes the requests of one call; what they have in common is checked once."""

    origin: Origin
    principal: str
    runs: list[Run] = field(factory=list)
    _traits: tuple[object, ...] | None = None

    def take(self, request: SubmitRequest) -> None:
        """Check one more; raises InvalidInput, and is as it was then."""
        payload = _payload(request.payload)
        traits = _traits(request)
        if traits == self._traits:
            self.runs[-1].payloads.append(payload)
            return
        self.runs.append(Run(_checked(request, payload, self.origin, self.principal), [payload]))
        self._traits = traits if _may_repeat(request) else None


def _may_repeat(request: SubmitRequest) -> bool:
    """Whether others can be like it in all but the payload: a key or unique options belong to one job alone."""
    return request.key is None and request.unique is None


def _payload(payload: object) -> str:
    if type(payload) is not dict:
        if not isinstance(payload, Mapping):
            raise InvalidInput("payload", "must be a JSON object")
        payload = dict(payload)
    return encode("payload", payload, PAYLOAD_BYTES, _compact)


def _compact(value: object) -> str:
    return _encode(value).decode()


def _checked(request: SubmitRequest, payload: str, origin: Origin, principal: str) -> Submission:
    specification = Specification(
        type=request.type,
        payload=payload,
        queue=request.queue,
        priority=request.priority,
        max_attempts=request.max_attempts,
        timeout=request.timeout,
        lease=request.lease,
        retry=request.retry,
        effect_key=request.effect_key,
    )
    command = Submit(origin=origin, specification=specification, run_at=request.run_at, delay=request.delay)
    check_submit(command)
    return Submission(
        command,
        key=_submit_key(request, command, principal),
        unique_key=_unique_key(request),
        unique_for=request.unique.period if request.unique else None,
    )


def _traits(request: SubmitRequest) -> tuple[object, ...]:
    """Return all but the payload; types first, as True equals 1 and is no whole number."""
    return (
        type(request.priority),
        type(request.max_attempts),
        request.priority,
        request.max_attempts,
        request.type,
        request.queue,
        request.timeout,
        request.lease,
        request.retry,
        request.effect_key,
        request.run_at,
        request.delay,
        request.key,
        request.unique,
    )


@frozen
class Submitting:
    """The use case: check, then hand over to the store, all or nothing."""

    submitter: Submitter
    principal: str = "library"

    async def submit(self, request: SubmitRequest, origin: Origin) -> Submitted:
        """Accept one job; raises InvalidInput, KeyConflict, KeyInProgress, Unavailable, UnknownOutcome."""
        [answer] = await self.submitter.submit([submission(request, origin, self.principal)])
        return answer

    async def submit_many(self, requests: Sequence[SubmitRequest], origin: Origin) -> Sequence[Submitted]:
        """Accept all or none, answered in order; raises InvalidItem and what ``submit`` raises."""
        return await self.submitter.submit(submissions(requests, origin, self.principal))

    async def submit_partial(
        self, requests: Sequence[SubmitRequest], origin: Origin
    ) -> list[Submitted | InvalidItem]:
        """Accept the good ones in one transaction; each bad one is answered with its error."""
        desk, faults = _Desk(origin, self.principal), {}
        for index, request in enumerate(requests):
            try:
                desk.take(request)
            except InvalidInput as error:
                faults[index] = InvalidItem(index, error)
        good = Runs(desk.runs)
        stored = iter(await self.submitter.submit(good) if good else ())
        return [faults.get(index) or next(stored) for index in range(len(requests))]


def _submit_key(request: SubmitRequest, command: Submit, principal: str) -> SubmitKey | None:
    if request.key is None:
        return None
    asked = {
        **facts.describe(command.specification),
        "payload_digest": _digest(request.payload),
        "run_at": facts.instant_or_none(request.run_at),
        "delay_us": None if request.delay is None else microseconds(request.delay),
    }
    return SubmitKey(principal, SUBMIT_OPERATION, check_key("key", request.key), _digest(asked))


def _unique_key(request: SubmitRequest) -> str | None:
    unique = request.unique
    if unique is None:
        return None
    fields = request.payload if unique.fields is None else unique.fields
    for name in fields:
        if name not in request.payload:
            raise InvalidInput("unique.fields", f"must name fields of the payload, not {name!r}")
    chosen = {name: request.payload[name] for name in fields}
    return _digest([request.type, None if unique.across_queues else request.queue, chosen])


def _digest(value: Any) -> str:
    """Return a digest that does not depend on the order of keys."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
