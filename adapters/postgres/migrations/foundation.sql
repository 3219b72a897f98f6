-- The foundation: jobs and their history. {schema} is replaced by the schema's name.

CREATE SEQUENCE {schema}.positions AS bigint CACHE 1;   -- one global order over both event tables

CREATE TABLE {schema}.jobs (
    job_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seq integer NOT NULL DEFAULT 1 CHECK (seq >= 1),
    state text NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'running', 'succeeded', 'dead', 'cancelled')),
    type text NOT NULL,
    queue text NOT NULL,
    priority smallint NOT NULL CHECK (priority BETWEEN 0 AND 9),
    run_at timestamptz NOT NULL CHECK (run_at >= '1970-01-01 00:00:00+00' AND run_at < '10000-01-01 00:00:00+00'),
    attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    failures integer NOT NULL DEFAULT 0,
    expiries integer NOT NULL DEFAULT 0 CHECK (expiries >= 0),
    idle_returns integer NOT NULL DEFAULT 0 CHECK (idle_returns >= 0),
    heartbeats integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL CHECK (max_attempts >= 1),
    dismissed boolean NOT NULL DEFAULT false,
    timeout interval,
    lease interval NOT NULL,
    submitted_at timestamptz NOT NULL,
    lease_expires_at timestamptz,
    cancel_requested_at timestamptz,
    claim_id uuid,
    worker text,
    effect_key text,
    retry jsonb NOT NULL,
    payload json,                                     -- json, not jsonb: kept byte for byte, as its digest demands
    result json,
    CHECK (failures BETWEEN 0 AND max_attempts),
    CHECK ((state = 'running') = (claim_id IS NOT NULL)),
    CHECK ((state = 'running') = (lease_expires_at IS NOT NULL)),
    CHECK ((state = 'running') = (worker IS NOT NULL)),
    CHECK (state = 'running' OR heartbeats = 0),
    -- A moment or a duration that cannot be read would stop whoever lists or claims jobs, not only its own.
    CHECK (least(submitted_at, lease_expires_at, cancel_requested_at) >= '1970-01-01 00:00:00+00'),
    CHECK (greatest(submitted_at, lease_expires_at, cancel_requested_at) < '10000-01-01 00:00:00+00'),
    CHECK (least(timeout, lease) > '0' AND greatest(timeout, lease) <= '36600 days')
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX jobs_due ON {schema}.jobs (queue, priority DESC, run_at, job_id) WHERE state = 'pending';
-- The reaper's. Deliberately not on lease_expires_at: with it every heartbeat would rewrite every index.
CREATE INDEX jobs_running ON {schema}.jobs (job_id) WHERE state = 'running';
CREATE INDEX jobs_dead ON {schema}.jobs (job_id) WHERE state = 'dead';

CREATE TABLE {schema}.job_events (
    position bigint NOT NULL DEFAULT nextval('{schema}.positions'),
    job_id bigint NOT NULL,
    seq integer NOT NULL CHECK (seq >= 1),
    attempt integer NOT NULL,
    failures integer NOT NULL,
    name text NOT NULL,
    command text,
    state text NOT NULL,
    at timestamptz NOT NULL,
    run_at timestamptz,
    lease_expires_at timestamptz,
    started_at timestamptz,
    ran interval,
    claim_id uuid,
    heartbeats integer,
    actor text NOT NULL,
    request_id text,
    reason text,
    build text,
    data jsonb,
    payload json,
    result json,
    PRIMARY KEY (job_id, seq)
);
CREATE UNIQUE INDEX job_events_position ON {schema}.job_events (position);

CREATE TABLE {schema}.control_events (
    position bigint NOT NULL DEFAULT nextval('{schema}.positions') PRIMARY KEY,
    subject text NOT NULL,
    name text NOT NULL,
    at timestamptz NOT NULL,
    actor text NOT NULL,
    request_id text,
    reason text,
    data jsonb NOT NULL DEFAULT '{{}}'
);
CREATE INDEX control_events_subject ON {schema}.control_events (subject, position);
CREATE UNIQUE INDEX control_events_one_refusal ON {schema}.control_events
    (subject, (data ->> 'attempt'), (data ->> 'claim_id'), (data ->> 'command')) WHERE name = 'report_refused';

CREATE TABLE {schema}.queues (
    name text PRIMARY KEY,
    paused_at timestamptz CHECK (paused_at >= '1970-01-01 00:00:00+00' AND paused_at < '10000-01-01 00:00:00+00'),
    pauses integer NOT NULL DEFAULT 0,
    UNIQUE (name, pauses)                             -- makes counting a pause a change of a key, see queue_store.py
);

CREATE TABLE {schema}.workers (
    worker text PRIMARY KEY,
    queues text[] NOT NULL,
    types text[] NOT NULL DEFAULT '{{}}',
    build text,
    idle boolean NOT NULL DEFAULT false,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE {schema}.submit_keys (
    principal text NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    request_digest text NOT NULL,
    job_id bigint,
    used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (principal, operation, key)
);

CREATE TABLE {schema}.unique_keys (
    unique_key text PRIMARY KEY,
    job_id bigint,
    held_until timestamptz
);
