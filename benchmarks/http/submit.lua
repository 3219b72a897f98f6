-- wrk's script for `POST /v1/jobs`, one small job each; at the end one line of JSON:
--
--     wrk -t 1 -c 32 -d 10s -s submit.lua http://127.0.0.1:8470
--
-- `answered` counts what wrk read (201 or not), `refused` what was not 2xx or 3xx; latencies are in milliseconds.
-- What was accepted is for the database to say: each 201 must be a row of `jobs` with its `enqueued` event.

wrk.method = "POST"
wrk.path = "/v1/jobs"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"type":"noop","queue":"bench","payload":{"number":1}}'

function done(summary, latency)
    local errors = summary.errors
    local lost = errors.connect + errors.read + errors.write + errors.timeout
    io.write(string.format(
        '{"answered": %d, "refused": %d, "lost": %d, "per_s": %.0f, "p50_ms": %.2f, "p99_ms": %.2f, "max_ms": %.2f}\n',
        summary.requests, errors.status, lost, summary.requests / summary.duration * 1e6,
        latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000
    ))
end
