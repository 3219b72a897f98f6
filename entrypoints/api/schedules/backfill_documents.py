"""What the OpenAPI document says of backfills."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ....domain.backfill import MOST_TIMES, Ending
from ..describing import LIMIT, TEXT, answer, parameter, query, route
from ..schemas import Moment, MomentIn, Name, Priority, Why
from .documents import IDEMPOTENCY_KEY, REPLAYED, SCHEDULE

Policy = Annotated[
    Literal["allow", "skip", "queue_one"],
    Meta(
        description="What if a job of the schedule is unfinished: its jobs run beside all others and hold none up; the "
        "fire time is skipped; or each waits until there is none."
    ),
]
Id = Annotated[str, Meta(description="The origin of its firings in the ledger.")]


class BackfillRequest(Why, kw_only=True):
    """The fire times from ``from`` to ``to``, both included, no later than now."""

    from_: MomentIn = field(name="from")
    to: Annotated[
        MomentIn,
        Meta(description=f"At most {MOST_TIMES} fire times may lie in the range, which may be none."),
    ]
    priority: Annotated[Priority | None, Meta(description="null means the schedule's.")] = None
    overlap: Policy = "allow"
    dry_run: Annotated[bool, Meta(description="Only count: nothing is changed.")] = False


class BackfillShown(Struct):
    """``decided`` of ``fire_times`` have been decided, and ``fired`` of those got a job."""

    backfill_id: Id
    schedule: Name
    from_: Moment = field(name="from")
    to: Moment
    priority: Priority | None
    overlap: Policy
    fire_times: int
    decided: int
    fired: int
    next_at: Annotated[Moment | None, Meta(description="The first fire time without a decision.")]
    requested_at: Moment
    actor: str
    request_id: str
    reason: str | None
    ended_at: Moment | None
    ending: Annotated[Ending | None, Meta(description="null while it goes on; deleted: with its schedule.")]


class BackfillList(Struct):
    """Backfills, newest first."""

    items: list[BackfillShown]


class BackfillSize(Struct):
    """How many fire times a backfill would have."""

    schedule: Name
    fire_times: int


class BackfillStopped(Struct):
    """``already_applied``: it had ended before."""

    backfill_id: Id
    verdict: Literal["accepted", "already_applied"]


MODELS: tuple[type[Struct], ...] = (
    BackfillRequest,
    BackfillShown,
    BackfillList,
    BackfillSize,
    BackfillStopped,
)
BACKFILL = route(
    "Backfill a range of the past",
    {
        202: answer("Schedulers carry it out; the list tells how far it is.", BackfillShown, REPLAYED),
        200: answer("Counted, for a dry run.", BackfillSize),
    },
    SCHEDULE,
    IDEMPOTENCY_KEY,
    body=BackfillRequest,
)
BACKFILLS = route(
    "List a schedule's backfills",
    {200: answer("The newest.", BackfillList)},
    SCHEDULE,
    query("limit", LIMIT),
)
STOP = route(
    "Stop a backfill; its jobs stay",
    {200: answer("Stopped, or it had ended.", BackfillStopped)},
    parameter("backfill_id", "path", TEXT),
    body=Why,
    body_required=False,
)
