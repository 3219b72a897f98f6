#!/bin/sh
# The SQL floor: jobs/s for bulk insert, and for claim + complete in batches, with no Python in the way.
# PEERS_DSN is the maintenance database; a database peer_floor is created beside it and dropped.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${PEERS_DSN:?set PEERS_DSN}"
pgbench=${PGBENCH:-pgbench}
batch=${BATCH:-100}
jobs=${JOBS:-500000}
seconds=${SECONDS_EACH:-6}
db=${FLOOR_DSN:-${PEERS_DSN%/*}/peer_floor}
psql -q -v ON_ERROR_STOP=1 "$PEERS_DSN" -c 'drop database if exists peer_floor with (force)' -c 'create database peer_floor' 2>/dev/null
for clients in ${CLIENTS:-1 2}; do
    psql -q "$db" -f "$here/schema.sql" 2>/dev/null
    psql -q "$db" -c checkpoint
    t0=$(date +%s.%N)
    "$pgbench" -n -M prepared -c "$clients" -j "$clients" -t $((50 / clients)) -D n=1000 -f "$here/enq.sql" "$db" >/dev/null 2>&1
    t1=$(date +%s.%N)
    made=$(psql -At "$db" -c 'select count(*) from jobs')
    echo "floor enqueue clients=$clients batch=1000 jobs/s=$(echo "$made $t0 $t1" | awk '{printf "%.0f", $1 / ($3 - $2)}')"
    "$pgbench" -n -t $(((jobs - made) / 10000)) -D n=10000 -f "$here/enq.sql" "$db" >/dev/null 2>&1
    psql -q "$db" -c 'vacuum (analyze) jobs' -c 'vacuum (analyze) job_events' -c checkpoint
    t0=$(date +%s.%N)
    "$pgbench" -n -c "$clients" -j "$clients" -T "$seconds" -D "n=$batch" -f "$here/work.sql" "$db" >/dev/null 2>&1 || true
    t1=$(date +%s.%N)
    done=$(psql -At "$db" -c "select count(*) from jobs where status = 'succeeded'")
    left=$(psql -At "$db" -c "select count(*) from jobs where status = 'pending'")
    [ "$left" -gt 0 ] || { echo "ran dry: raise JOBS" >&2; exit 1; }
    echo "floor work    clients=$clients batch=$batch jobs/s=$(echo "$done $t0 $t1" | awk '{printf "%.0f", $1 / ($3 - $2)}')"
done
psql -q "$PEERS_DSN" -c 'drop database peer_floor with (force)'
