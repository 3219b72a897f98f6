"""Hypothesis strategies for jobs, commands and clocks: sensible ones, and nonsense that must not break anything."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from fencepost.domain import commands as c
from fencepost.domain.job import Job, Specification
from fencepost.domain.limits import (
    DURATION_MAX,
    EARLIEST,
    IDLE_RETURNS,
    LEASE_MAX,
    LEASE_MIN,
    MAX_ATTEMPTS_LIMIT,
)
from fencepost.domain.retry import Constant, Delays, Exponential, RetryPolicy
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State

MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(2030, 1, 1, tzinfo=UTC)

moments = st.integers(0, 250_000_000_000).map(
    lambda seconds: EARLIEST + timedelta(seconds=seconds, microseconds=7)
)
near_moments = st.integers(-100, 100).map(lambda seconds: EPOCH + timedelta(seconds=seconds))
waits = st.timedeltas(min_value=MICROSECOND, max_value=DURATION_MAX)
draws = st.floats(0, 1, exclude_max=True)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = st.from_regex(r"[A-Za-z0-9._:/-]{1,128}", fullmatch=True)
maybe_words = st.none() | words
payloads = st.sampled_from(["{}", '{"a":1}', '{"a":"é"}'])
claim_ids = st.sampled_from(["one", "two"])

policies: st.SearchStrategy[RetryPolicy] = (
    st.builds(Exponential, waits, waits)
    | st.builds(Constant, waits)
    | st.builds(
        Delays,
        st.lists(st.timedeltas(min_value=timedelta(0), max_value=DURATION_MAX), min_size=1, max_size=100).map(
            tuple
        ),
    )
)

specifications = st.builds(
    Specification,
    type=names,
    payload=st.none() | payloads,
    queue=names,
    priority=st.integers(0, 9),
    max_attempts=st.integers(1, MAX_ATTEMPTS_LIMIT),
    timeout=st.none() | waits,
    lease=st.timedeltas(min_value=LEASE_MIN, max_value=LEASE_MAX),
    retry=policies,
    effect_key=maybe_words,
)


def any_jobs(clock: st.SearchStrategy[datetime] = near_moments) -> st.SearchStrategy[Job]:
    """Rows no database should hold, too: the fields are drawn independently of each other."""
    return st.builds(
        Job,
        type=st.just("t"),
        payload=st.none() | payloads,
        priority=st.integers(0, 9),
        max_attempts=st.integers(1, 5) | st.just(MAX_ATTEMPTS_LIMIT),
        lease=st.sampled_from([LEASE_MIN, timedelta(seconds=30), LEASE_MAX]),
        retry=policies,
        effect_key=maybe_words,
        job_id=st.integers(1, 2),
        state=st.sampled_from(State),
        run_at=clock,
        submitted_at=clock,
        seq=st.integers(1, 2**31),
        attempt=st.integers(0, 4),
        failures=st.integers(0, 6) | st.integers(0, MAX_ATTEMPTS_LIMIT),
        expiries=st.integers(0, 3),
        idle_returns=st.sampled_from([0, 1, IDLE_RETURNS - 1, IDLE_RETURNS, IDLE_RETURNS + 1]),
        worker=st.none() | st.just("worker:1"),
        claim_id=st.none() | claim_ids,
        lease_expires_at=st.none() | clock,
        heartbeats=st.integers(0, 3),
        cancel_requested_at=st.none() | clock,
        dismissed=st.booleans(),
        result=st.none() | st.just("1"),
    )


origins = st.builds(c.Origin, words, maybe_words, maybe_words, maybe_words)
tokens = st.builds(Token, st.integers(1, 2), st.integers(0, 4), claim_ids)
errors = st.builds(c.JobError, words, words, maybe_words)
times = st.none() | st.builds(c.HandlerTimes.of, moments, st.timedeltas(timedelta(0), timedelta(days=1)))
_held = {"origin": origins, "token": tokens, "draw": draws, "times": times}

reports: st.SearchStrategy[c.Report] = st.one_of(
    st.builds(c.Succeed, **_held, result=st.none() | st.just("[1]")),
    st.builds(c.Fail, **_held, error=errors, retry_in=st.none() | st.timedeltas(timedelta(0), DURATION_MAX)),
    st.builds(c.Timeout, **_held),
    st.builds(c.Discard, **_held, error=errors),
    st.builds(c.Snooze, **_held, delay=st.timedeltas(timedelta(0), DURATION_MAX)),
    st.builds(c.Release, **_held),
    st.builds(c.ConfirmCancel, **_held),
)
operations: st.SearchStrategy[c.Operation] = st.one_of(
    st.builds(c.Cancel, origin=origins),
    st.builds(c.Revoke, origin=origins, cancel=st.booleans()),
    st.builds(
        c.Requeue,
        origin=origins,
        payload=st.none() | payloads,
        fresh_effect_key=st.none() | st.booleans(),
    ),
    st.builds(
        c.Edit,
        origin=origins,
        run_at=st.none() | moments,
        priority=st.none() | st.integers(0, 9),
        queue=st.none() | names,
        payload=st.none() | payloads,
    ),
    st.builds(c.Dismiss, origin=origins),
)
commands: st.SearchStrategy[c.Command] = st.one_of(
    reports,
    operations,
    st.builds(c.Claim, origin=origins, claim_id=claim_ids),
    st.builds(c.Expire, origin=origins, draw=draws),
)
submits = st.builds(
    c.Submit,
    origin=origins,
    specification=specifications,
    run_at=st.none() | moments,
    delay=st.none() | st.timedeltas(timedelta(0), DURATION_MAX),
)
