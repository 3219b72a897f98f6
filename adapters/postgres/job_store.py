"""The write side of jobs on PostgreSQL."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from time import monotonic

from ...application.ports.job_store import Claimed, ClaimedJob, ClaimRequest, LeaseAnswer
from ...domain.commands import Operation, Report
from ...domain.errors import TooSlow, Unavailable, UnknownOutcome
from ...domain.token import Token
from ...domain.vocabulary import Verdict
from . import claiming, leases
from .behind import Looker
from .database import Database
from .frontier import CHEAP, SHARE, Frontier, Scan
from .identity import known_form
from .judging import judge
from .operating import operate
from .reporting import report_query
from .rousing import rouse


class PostgresJobStore:
    """Implements the port ``JobStore``."""

    def __init__(
        self,
        database: Database,
        *,
        full_scans: float = SHARE,
        cheap: float = CHEAP,
        looks: Database | None = None,
        monotonic: Callable[[], float] = monotonic,
    ) -> None:
        """Work on this database; each call is one transaction, claims and reports may overlap.

        ``full_scans`` is the share of the time in which claims may walk their index from its start: see ``frontier``;
        with 1 they always do. Where that takes more than ``cheap`` seconds it is done beside the claims, through
        ``looks``, if there is such a database; ``close`` ends that.
        """
        self._database = database
        self._schema = database.schema
        self._full_scans, self._cheap, self._monotonic = full_scans, cheap, monotonic
        self._looker = None if looks is None else Looker(looks, monotonic)
        self._frontiers: dict[tuple[str, frozenset[str]], Frontier] = {}

    async def claim(self, request: ClaimRequest) -> Claimed:
        """Claim in one statement, from the frontier or from the start."""
        frontier = self._frontier(request)
        scan = self._scan(frontier, request)
        query = claiming.claim_query(self._schema, request, self._database.moment(), scan)
        sent = self._monotonic()
        try:
            rows = await self._database.execute(query)
        except TooSlow:
            frontier.gave_up(scan, self._monotonic() - sent)
            raise
        answer = claiming.answer(request, rows)
        assert len(answer.jobs) <= request.limit
        wait = _wait(frontier, scan, request.limit, answer, self._monotonic() - sent)
        return Claimed(answer.jobs, wait, answer.open)

    async def close(self) -> None:
        """End what goes on beside the calls; the databases are their owner's."""
        if self._looker is not None:
            await self._looker.close()

    def _scan(self, frontier: Frontier, request: ClaimRequest) -> Scan:
        if self._looker is None or not frontier.wants_a_look:
            return frontier.scan()
        self._looker.look(frontier, request)
        return frontier.onward()

    def _frontier(self, request: ClaimRequest) -> Frontier:
        key = request.queue, request.types
        if key not in self._frontiers:
            self._frontiers[key] = Frontier(self._monotonic, self._full_scans, self._cheap)
        return self._frontiers[key]

    async def claimed_by(self, claim_id: str) -> Sequence[ClaimedJob]:
        """Look a claim up whose outcome is unknown."""
        if known_form(claim_id) is None:
            return ()
        rows = await self._database.execute(claiming.claimed_by_query(self._schema, claim_id))
        return [claiming.job(row, queue, claim_id) for queue, *row in rows]

    async def report(self, reports: Sequence[Report]) -> Sequence[Verdict]:
        """Apply what matches in one statement; judge the rest from history, in a transaction of its own."""
        if not reports:
            return ()
        by_job = {report.token.job_id: report for report in reports}
        if len(by_job) != len(reports):
            raise ValueError("at most one report per job")
        ordered = [by_job[job_id] for job_id in sorted(by_job)]
        rows = await self._database.execute(report_query(self._schema, ordered, self._database.moment()))
        if len(rows) == len(reports):
            return [Verdict.ACCEPTED] * len(reports)
        verdicts = dict.fromkeys((job_id for [job_id] in rows), Verdict.ACCEPTED)
        rest = [report for report in ordered if report.token.job_id not in verdicts]
        if rest:
            verdicts |= await self._judged(rest, something_changed=bool(verdicts))
        return [verdicts[report.token.job_id] for report in reports]

    async def _judged(self, reports: Sequence[Report], *, something_changed: bool) -> Mapping[int, Verdict]:
        """Judge reports; after others of their batch were accepted, an error only means to ask again."""
        try:
            return await self._database.run(lambda: judge(self._schema, reports, self._database.moment()))
        except (Unavailable, UnknownOutcome):
            if not something_changed:
                raise
            return {report.token.job_id: Verdict.BUSY for report in reports}

    async def heartbeat(self, tokens: Sequence[Token]) -> Sequence[LeaseAnswer]:
        """Extend leases in one statement; a token given twice is renewed once."""
        if not tokens:
            return ()
        ordered = sorted(set(tokens), key=lambda token: token.job_id)
        query = leases.heartbeat_query(self._schema, ordered, self._database.moment())
        answers = leases.lease_answers(ordered, await self._database.execute(query))
        return [answers[token] for token in tokens]

    async def reap(self, limit: int, draws: Sequence[float]) -> int:
        """Expire lapsed leases in one statement."""
        query = leases.reap_query(self._schema, limit, draws, self._database.moment())
        [[expired, queues]] = await self._database.execute(query)
        assert expired <= limit
        await rouse(self._database, queues or ())
        return int(expired)

    async def operate(self, job_ids: Sequence[int], operation: Operation) -> Sequence[Verdict]:
        """Decide each job in Python, under its row's lock; many ids are several transactions."""
        return await operate(self._database, job_ids, operation)


def _wait(
    frontier: Frontier, scan: Scan, limit: int, answer: claiming.Answer, elapsed: float
) -> timedelta | None:
    """Move the frontier and return how long after this claim was sent, ``elapsed`` seconds ago, the next one is due."""
    took = answer.took.total_seconds()
    if not answer.open or answer.held > len(answer.jobs):  # paused, or some were changed at this very moment
        frontier.gave_up(scan, took)
        return timedelta(0) if answer.open else None
    reached = answer.last if len(answer.jobs) == limit else None
    frontier.found(scan, reached, answer.clock, took)
    if answer.held == limit:
        return None
    return answer.wait if scan.full else frontier.patience(answer.wait, elapsed)
