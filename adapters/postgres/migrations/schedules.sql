-- Schedules, the ledger of what was decided about each of their fire times, and backfills.

ALTER TABLE {schema}.jobs ADD COLUMN scheduled_for timestamptz
    CHECK (scheduled_for >= '1970-01-01 00:00:00+00' AND scheduled_for < '10000-01-01 00:00:00+00');

CREATE TABLE {schema}.schedules (
    name text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL CHECK (version >= 1),
    definition jsonb NOT NULL,
    payload json NOT NULL,                            -- json, not jsonb: kept byte for byte, as its digest demands
    created_at timestamptz NOT NULL,
    next_fire_at timestamptz,
    tz_version text COLLATE "C" NOT NULL,             -- the tz database whose rules next_fire_at comes from
    paused_at timestamptz,
    pause_reason text,
    waiting timestamptz,                              -- the fire time whose job waits for others to end
    waiting_origin text,
    waiting_cancels boolean NOT NULL DEFAULT false,   -- whether the jobs it waits for are asked to stop
    open_jobs bigint[] NOT NULL DEFAULT '{{}}',
    last_job bigint,
    declared_by text,                                 -- the app whose code declares it, and what it said last
    declared json,                                    -- json, not jsonb: compared as text
    CHECK ((declared_by IS NULL) = (declared IS NULL)),
    CHECK (paused_at IS NULL OR next_fire_at IS NULL),
    CHECK ((waiting IS NULL) = (waiting_origin IS NULL)),
    CHECK (least(created_at, next_fire_at, paused_at, waiting) >= '1970-01-01 00:00:00+00'),
    CHECK (greatest(created_at, next_fire_at, paused_at, waiting) < '10000-01-01 00:00:00+00')
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX schedules_due ON {schema}.schedules (next_fire_at, name) WHERE next_fire_at IS NOT NULL;
CREATE INDEX schedules_waiting ON {schema}.schedules (waiting) WHERE waiting IS NOT NULL;

-- No foreign key: the ledger outlives its schedule, so that a new one of the same name fires no slot again.
CREATE TABLE {schema}.firings (
    schedule text COLLATE "C" NOT NULL,
    fire_at timestamptz NOT NULL,
    origin text COLLATE "C" NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('fired', 'queued', 'coalesced', 'skipped', 'backfilled')),
    reason text NOT NULL,
    until timestamptz NOT NULL,
    count integer NOT NULL CHECK (count >= 1),
    job_id bigint,
    version integer NOT NULL,
    tz_version text NOT NULL,
    decided_at timestamptz NOT NULL,
    PRIMARY KEY (schedule, fire_at, origin),
    CHECK ((count = 1) = (until = fire_at)),
    CHECK (until >= fire_at)
);
CREATE INDEX firings_job ON {schema}.firings (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX firings_jobs_of_schedule ON {schema}.firings (schedule, job_id) WHERE job_id IS NOT NULL;

-- Ranges of the past whose fire times are decided once more, as somebody asked; they outlive their schedule, too.
CREATE TABLE {schema}.backfills (
    backfill_id text COLLATE "C" PRIMARY KEY,         -- the origin of its firings
    schedule text NOT NULL,
    timing jsonb NOT NULL,                            -- the schedule's when it was asked for
    from_at timestamptz NOT NULL,
    to_at timestamptz NOT NULL,
    priority smallint CHECK (priority BETWEEN 0 AND 9),
    overlap text NOT NULL CHECK (overlap IN ('allow', 'skip', 'queue_one')),
    total integer NOT NULL CHECK (total >= 0),
    decided integer NOT NULL DEFAULT 0,
    fired integer NOT NULL DEFAULT 0,
    next_at timestamptz,                              -- the first fire time without a decision
    requested_at timestamptz NOT NULL,
    actor text NOT NULL,
    request_id text NOT NULL,
    reason text,
    ended_at timestamptz,
    ending text CHECK (ending IN ('done', 'stopped', 'deleted')),
    CHECK (from_at <= to_at),
    CHECK (next_at BETWEEN from_at AND to_at),
    CHECK (fired BETWEEN 0 AND decided),
    CHECK ((next_at IS NULL) = (ending IS NOT NULL)),
    CHECK ((ended_at IS NULL) = (ending IS NULL)),
    CHECK (from_at >= '1970-01-01 00:00:00+00' AND to_at < '10000-01-01 00:00:00+00')
);
CREATE INDEX backfills_undone ON {schema}.backfills (requested_at, backfill_id) WHERE next_at IS NOT NULL;
CREATE INDEX backfills_of_schedule ON {schema}.backfills (schedule, requested_at DESC);
