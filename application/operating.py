"""Operations of people and programs on jobs: cancel, revoke, requeue, edit, dismiss."""

from collections.abc import Sequence

from attrs import frozen

from ..domain import commands as c
from ..domain.errors import InvalidInput, JobBusy, JobNotFound, WrongState
from ..domain.limits import PAYLOAD_BYTES
from ..domain.submission import check_origin
from ..domain.transitions import rules_of
from ..domain.values import check_moment, check_name, check_priority, decode, encode
from ..domain.vocabulary import State, Verdict
from .ports.job_reader import JobReader
from .ports.job_store import JobStore
from .ports.local_time import LocalTime

BUSY_TRIES = 50
BUSY_WAIT = 0.1
"""Seconds between tries while somebody else holds a job's row."""


class EffectKeyNotChosen(WrongState):
    """A job that has succeeded is requeued only by who says whether its effect may happen again."""

    rule = "must be chosen for a job that has succeeded: true (its effect may happen again) or false"

    def __init__(self, job_id: int) -> None:
        """Say what to choose."""
        super().__init__(f"job {job_id}: fresh_effect_key {self.rule}")


@frozen
class Operating:
    """The use case: check the operation, apply it, wait for rows that are locked."""

    store: JobStore
    reader: JobReader
    time: LocalTime

    async def one(self, job_id: int, operation: c.Operation) -> Verdict:
        """Apply an operation to one job and return ``accepted`` or ``already_applied``.

        Raises InvalidInput, JobNotFound, WrongState (EffectKeyNotChosen), JobBusy (somebody else held the row for 5 s),
        Unavailable, UnknownOutcome.
        """
        [verdict] = await self.many([job_id], operation)
        match verdict:
            case Verdict.GONE:
                raise JobNotFound(f"there is no job {job_id}")
            case Verdict.REFUSED:
                state = await self.state(job_id)
                if lacks_choice(operation, state):
                    raise EffectKeyNotChosen(job_id)
                raise WrongState(f"job {job_id}: {operation.name.value}: {not_allowed(operation, state)}")
            case Verdict.BUSY:
                raise JobBusy(f"job {job_id} is locked by somebody else")
            case _:
                return verdict

    async def many(self, job_ids: Sequence[int], operation: c.Operation) -> Sequence[Verdict]:
        """Apply an operation to several jobs and answer in the order given; raises as ``one`` does."""
        check_operation(operation)
        verdicts = list(await self.store.operate(job_ids, operation))
        for _ in range(BUSY_TRIES):
            busy = [index for index, verdict in enumerate(verdicts) if verdict is Verdict.BUSY]
            if not busy:
                break
            await self.time.sleep(BUSY_WAIT)
            answers = await self.store.operate([job_ids[index] for index in busy], operation)
            for index, verdict in zip(busy, answers, strict=True):
                verdicts[index] = verdict
        return verdicts

    async def state(self, job_id: int) -> State | None:
        """Return the state that a job is in now, to tell why an operation was refused."""
        job = await self.reader.get(job_id)
        return None if job is None else job.state


def lacks_choice(operation: c.Operation, state: State | None) -> bool:
    """Tell whether a requeue was refused because nobody chose between the effect keys of a job that has succeeded."""
    return (
        isinstance(operation, c.Requeue) and operation.fresh_effect_key is None and state is State.SUCCEEDED
    )


def not_allowed(operation: c.Operation, state: State | None) -> str:
    """Return in which state a job is, and in which ones the operation would have been accepted."""
    sources = _sources(operation)
    allowed = [one.value for one in State if one in sources]
    now = "gone" if state is None else state.value
    return f"it is {now}, and must be {' or '.join(allowed)}"


def changeable(operation: c.Operation) -> frozenset[State]:
    """Return the states in which an operation can change a job: who names no states means these."""
    return frozenset(state for state in _sources(operation) if not lacks_choice(operation, state))


def _sources(operation: c.Operation) -> frozenset[State]:
    return frozenset(rule.source for rule in rules_of([operation.name]) if rule.event is not None)


def check_operation(operation: c.Operation) -> None:
    """Check what an operation carries; raises InvalidInput."""
    check_origin(operation.origin)
    match operation:
        case c.Edit():
            _check_edit(operation)
        case c.Requeue(payload=str() as payload):
            check_payload(payload)
        case _:
            pass


def _check_edit(edit: c.Edit) -> None:
    if all(field is None for field in (edit.run_at, edit.priority, edit.queue, edit.payload)):
        raise InvalidInput("edit", "must name at least one of run_at, priority, queue, payload")
    if edit.run_at is not None:
        check_moment("run_at", edit.run_at)
    if edit.priority is not None:
        check_priority("priority", edit.priority)
    if edit.queue is not None:
        check_name("queue", edit.queue)
    if edit.payload is not None:
        check_payload(edit.payload)


def check_payload(text: str) -> None:
    """Check a payload given as JSON text; raises InvalidInput."""
    value = decode("payload", text)
    if not isinstance(value, dict):
        raise InvalidInput("payload", "must be a JSON object")
    encode("payload", value, PAYLOAD_BYTES)
