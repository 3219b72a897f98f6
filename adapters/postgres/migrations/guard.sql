-- Append-only: nobody changes or removes an event, the tables' owner included, except through two doors. {schema} is
-- replaced by the schema's name.

-- The doors' own statements fire it at depth 1. Deeper it is called by a trigger that somebody has put on our tables, and
-- that runs with the keeper's rights because a door was used: those rights are not for it.
CREATE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_TABLE_NAME = 'job_events' AND current_user = 'fencepost_keeper' AND pg_trigger_depth() = 1 THEN
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        IF TG_OP = 'UPDATE' AND NEW.payload IS NULL AND NEW.result IS NULL
            AND to_jsonb(NEW) - 'payload' - 'result' = to_jsonb(OLD) - 'payload' - 'result' THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION '% of % is refused: events are append-only, they are the proof of what happened',
        TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege',
            HINT = 'Use ' || TG_TABLE_SCHEMA || '.erase_payload to erase personal data, '
                || TG_TABLE_SCHEMA || '.prune to remove finished jobs with their events.';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {schema}.job_events
    FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_change();
-- Looks again at what is written: another trigger may have changed the row after the first look.
CREATE TRIGGER only_erased AFTER UPDATE ON {schema}.job_events
    FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {schema}.control_events
    FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON {schema}.job_events
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON {schema}.control_events
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();
-- ALWAYS: also for sessions that replicate, which skip ordinary triggers.
ALTER TABLE {schema}.job_events ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER only_erased,
    ENABLE ALWAYS TRIGGER never_emptied;
ALTER TABLE {schema}.control_events ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER never_emptied;

-- The keeper belongs to the cluster; the migration of another database may make it at the same moment.
DO $$
DECLARE
    hint text := format('Let an administrator run: CREATE ROLE fencepost_keeper NOLOGIN; '
        'GRANT fencepost_keeper TO %I WITH ADMIN OPTION;', current_user);
BEGIN
    PERFORM set_config('fencepost.migrator', current_user, true);
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fencepost_keeper') THEN
        BEGIN
            CREATE ROLE fencepost_keeper NOLOGIN;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'the role fencepost_keeper is missing and % may not create it', current_user
                    USING ERRCODE = 'insufficient_privilege', HINT = hint;
        END;
    END IF;
    -- "SET" is the question since 16: a role's maker is its member, but may not become it.
    IF NOT pg_has_role('fencepost_keeper', CASE WHEN current_setting('server_version_num')::integer >= 160000
                                                THEN 'SET' ELSE 'MEMBER' END) THEN
        BEGIN
            GRANT fencepost_keeper TO CURRENT_USER;
            PERFORM set_config('fencepost.granted', 'yes', true);
        EXCEPTION
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION '% may not make functions of the role fencepost_keeper', current_user
                    USING ERRCODE = 'insufficient_privilege', HINT = hint;
        END;
    END IF;
END $$;

GRANT USAGE, CREATE ON SCHEMA {schema} TO fencepost_keeper;
GRANT SELECT, DELETE, UPDATE (payload, result) ON {schema}.jobs, {schema}.job_events TO fencepost_keeper;
GRANT INSERT ON {schema}.control_events TO fencepost_keeper;
GRANT USAGE ON SEQUENCE {schema}.positions TO fencepost_keeper;

SET LOCAL ROLE fencepost_keeper;

-- Erases what a job was given and what it returned, in its row and its history; the digests stay.
CREATE FUNCTION {schema}.erase_payload(erased_job_id bigint, actor text, request_id text, reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM {schema}.jobs WHERE job_id = erased_job_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE {schema}.jobs SET payload = NULL, result = NULL WHERE job_id = erased_job_id;
    UPDATE {schema}.job_events SET payload = NULL, result = NULL
    WHERE job_id = erased_job_id AND (payload IS NOT NULL OR result IS NOT NULL);
    INSERT INTO {schema}.control_events (subject, name, at, actor, request_id, reason)
    VALUES ('job:' || erased_job_id, 'payload_erased', clock_timestamp(), actor, request_id, reason);
    RETURN true;
END $$;

-- Removes those of the given jobs that are finished and that nobody has locked, with their events; returns which.
CREATE FUNCTION {schema}.prune(job_ids bigint[], actor text, request_id text, reason text) RETURNS bigint[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    pruned bigint[];
BEGIN
    SELECT array_agg(job_id ORDER BY job_id) INTO pruned FROM (
        SELECT job_id FROM {schema}.jobs
        WHERE job_id = ANY (job_ids) AND state IN ('succeeded', 'dead', 'cancelled')
        ORDER BY job_id FOR UPDATE SKIP LOCKED
    ) AS finished;
    IF pruned IS NULL THEN
        RETURN '{{}}';
    END IF;
    DELETE FROM {schema}.job_events WHERE job_id = ANY (pruned);
    DELETE FROM {schema}.jobs WHERE job_id = ANY (pruned);
    INSERT INTO {schema}.control_events (subject, name, at, actor, request_id, reason, data)
    VALUES ('jobs', 'jobs_pruned', clock_timestamp(), actor, request_id, reason,
        jsonb_build_object('job_ids', to_jsonb(pruned)));
    RETURN pruned;
END $$;

REVOKE ALL ON FUNCTION {schema}.erase_payload, {schema}.prune FROM PUBLIC;
DO $$
BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION {schema}.erase_payload, {schema}.prune TO %I',
        current_setting('fencepost.migrator'));
END $$;

RESET ROLE;

REVOKE CREATE ON SCHEMA {schema} FROM fencepost_keeper;
-- Whoever can become the keeper can pass the guard: the migrator gives that up again.
DO $$
BEGIN
    IF current_setting('fencepost.granted', true) = 'yes' THEN
        REVOKE fencepost_keeper FROM CURRENT_USER;
    END IF;
END $$;
