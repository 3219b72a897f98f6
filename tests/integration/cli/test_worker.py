"""`fencepost worker`: starting, draining, aborting, as real processes."""

import json
import signal
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from support.commands import Commands, Running
from support.polling import eventually

Submit = Callable[..., int]


def names(fencepost: Commands, job: int) -> list[str]:
    """The names of a job's events."""
    return [event["name"] for event in fencepost.lines("jobs", "history", str(job))]


def began(fencepost: Commands, *jobs: int) -> None:
    """Wait until the handlers of these jobs run."""
    wanted = {f"began {job} 1" for job in jobs}
    eventually(lambda: wanted <= set(fencepost.marks()), within=30)


def test_a_worker_runs_the_jobs_of_an_app(fencepost: Commands, submit: Submit) -> None:
    """Jobs of every queue that the app's handlers name are run, coroutines and plain functions; logs are JSON."""
    jobs = [
        submit("echo", "--payload", '{"text": "hi"}'),
        submit("doze", "--queue", "side", "--payload", '{"seconds": 0}'),
    ]
    worker = fencepost.worker("--build", "v7")
    shown = [json.loads(fencepost.run("jobs", "wait", str(job)).stdout) for job in jobs]
    assert [job["state"] for job in shown] == ["succeeded", "succeeded"]
    assert shown[0]["result"] == "hi"
    assert worker.stop() == 0
    records = [json.loads(line) for line in worker.log.read_text().splitlines()]
    assert records[0]["event"] == "worker started"
    assert records[0]["queues"] == {"default": 10, "side": 10}
    claimed = fencepost.lines("audit", "log", "--name", "claimed")[0]
    assert (claimed["actor"], claimed["build"]) == (records[0]["worker"], "v7")
    assert fencepost.json("audit", "verify")["clean"]


def test_a_requeue_of_a_success_says_what_to_choose(fencepost: Commands, submit: Submit) -> None:
    """Without a choice of effect key it is refused and both flags are named; a pending job is just refused."""
    job = str(submit("echo"))
    worker = fencepost.worker()
    assert fencepost.run("jobs", "wait", job).returncode == 0
    assert worker.stop() == 0
    refused = fencepost.run("jobs", "requeue", job)
    assert (refused.returncode, json.loads(refused.stdout)["verdict"]) == (4, "refused")
    assert "--fresh-effect-key" in refused.stderr
    assert "--keep-effect-key" in refused.stderr
    assert fencepost.run("jobs", "requeue", job, "--keep-effect-key").returncode == 0
    again = fencepost.run("jobs", "requeue", job).stderr
    assert again.endswith("it is pending, and must be succeeded or dead or cancelled\n")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("shop", "must be MODULE:APP"),
        ("shop:", "must be MODULE:APP"),
        ("shop.py:app", "there is no module 'shop.py'"),
        ("nothing.here:app", "there is no module 'nothing'"),
        ("shop:ap", "there is app"),
        ("shop:HERE", "not a Fencepost app"),
        ("shop:empty", "has no handlers"),
        ("broken:app", "importing broken raised ZeroDivisionError: division by zero"),
        ("lacking:app", "importing lacking raised ModuleNotFoundError: No module named 'no_such_library'"),
        ("clumsy:app", "importing clumsy raised InvalidInput: queue: must match"),
    ],
)
def test_an_app_that_cannot_be_had_is_one_line_that_says_why(bare: Commands, target: str, says: str) -> None:
    """Exit code 2 at once, with the place in the user's code when that is at fault, and no traceback."""
    (bare.folder / "broken.py").write_text("1 / 0\n")
    (bare.folder / "lacking.py").write_text("import no_such_library\n")
    clumsy = (
        "from fencepost import Fencepost\napp = Fencepost()\n@app.job(queue='a b')\nasync def f(ctx): ...\n"
    )
    (bare.folder / "clumsy.py").write_text(clumsy)
    done = bare.run("worker", target, "--database-url", "postgresql://127.0.0.1:1/jobs")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert says in done.stderr


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--queues", "mail:0"),
        ("--queues", "mail:x"),
        ("--queues", "side,mail:"),
        ("--queues", "no spaces:3"),
        ("--drain-grace", "soon"),
        ("--heartbeat", "11s"),
    ],
)
def test_a_configuration_no_worker_can_have_ends_at_once(bare: Commands, flag: str, value: str) -> None:
    """Slots, durations, and a heartbeat above a third of the lease (B081), are refused with exit code 2."""
    done = bare.run("worker", "shop:app", flag, value, "--database-url", "postgresql://127.0.0.1:1/jobs")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"error: {flag[2:].replace('-', '_')}")


def test_heartbeats_go_on_while_a_worker_drains(fencepost: Commands, submit: Submit) -> None:
    """B080: one start, one completion, attempt 1, although the job outlives its first lease after the stop signal."""
    worker = fencepost.worker("--drain-grace", "60s")
    job = submit("nap", "--queue", "side", "--lease", "1s", "--payload", '{"seconds": 4}')
    began(fencepost, job)
    reaper = fencepost.start("scheduler", "--reap-every", "100ms")
    reaper.said("scheduler started")
    late = submit_after_stop(fencepost, worker, submit)
    assert worker.code() == 0
    assert reaper.stop() == 0
    assert fencepost.marks() == [f"began {job} 1", f"ended {job} 1"]
    assert names(fencepost, job) == ["enqueued", "claimed", "succeeded"]
    assert names(fencepost, late) == ["enqueued"]
    ending = fencepost.lines("jobs", "history", str(job))[-1]
    assert ending["heartbeats"] >= 4


def submit_after_stop(fencepost: Commands, worker: Running, submit: Submit) -> int:
    """Ask the worker to stop, then submit a job that it must not claim any more."""
    worker.ask()
    worker.said("stopping")
    return submit("echo")


@pytest.mark.parametrize(("number", "another"), [(signal.SIGTERM, "doze"), (signal.SIGINT, "nap")])
def test_a_drain_finishes_what_it_can_and_hands_back_the_rest(
    fencepost: Commands, submit: Submit, number: signal.Signals, another: str
) -> None:
    """B201: the quick job completes, the slow ones are released, whatever they run in; exit code 0 near the grace."""
    worker = fencepost.worker("--drain-grace", "2s")
    quick, slow, stuck = (
        submit(name, "--queue", "side", "--payload", json.dumps({"seconds": seconds}))
        for name, seconds in (("nap", 1.5), ("nap", 60), (another, 60))
    )
    began(fencepost, quick, slow, stuck)
    worker.ask(number)
    assert worker.code() == 0
    assert names(fencepost, slow) == ["enqueued", "claimed", "released"]
    assert names(fencepost, stuck) == ["enqueued", "claimed", "released"]
    assert fencepost.json("jobs", "show", str(slow))["failures"] == 0
    assert names(fencepost, quick) in (
        ["enqueued", "claimed", "succeeded"],
        ["enqueued", "claimed", "released"],
    )
    assert fencepost.json("audit", "verify")["clean"]


@pytest.mark.parametrize(
    ("first", "second"), [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT)]
)
def test_a_second_signal_aborts(
    fencepost: Commands, submit: Submit, first: signal.Signals, second: signal.Signals
) -> None:
    """B201: exit code 1 at once; the job's lease runs out and another worker gets it."""
    worker = fencepost.worker("--drain-grace", "60s")
    job = submit("nap", "--queue", "side", "--lease", "2s", "--payload", '{"seconds": 50}')
    began(fencepost, job)
    worker.ask(first)
    worker.said("stopping")
    worker.ask(second)
    assert worker.code(within=10) == 1
    scheduler = fencepost.start("scheduler", "--reap-every", "100ms")
    eventually(lambda: "lease_expired" in names(fencepost, job), within=30)
    assert scheduler.stop() == 0


def test_a_handler_that_blocks_the_loop_cannot_keep_a_worker_from_aborting(
    fencepost: Commands, submit: Submit
) -> None:
    """A coroutine that never yields does not make the process deaf to the second signal."""
    worker = fencepost.worker("--drain-grace", "60s")
    job = submit("deaf", "--queue", "side", "--payload", '{"seconds": 60}')
    began(fencepost, job)
    worker.ask(signal.SIGTERM)
    worker.ask(signal.SIGINT)  # another number: two pending signals of one number are one
    assert worker.code(within=10) == 1


def test_a_worker_waits_for_a_database_that_is_away(bare: Commands) -> None:
    """B202: it starts all the same, says so once, and a stop signal ends it with exit code 0."""
    away = bare.having(FENCEPOST_DATABASE_URL="postgresql://127.0.0.1:1/jobs")
    for running in (away.start("worker", "shop:app"), away.start("scheduler")):
        running.said("database out of reach")
        assert running.stop() == 0


def test_a_worker_says_which_handlers_it_will_not_run(fencepost: Commands) -> None:
    """Types whose queue is not served are named in a warning."""
    worker = fencepost.worker("--queues", "default:3")
    logged = [json.loads(line) for line in worker.said("queue side").splitlines()]
    assert {"echo", "doomed"}.isdisjoint(" ".join(str(record["event"]) for record in logged).split())
    assert worker.stop() == 0


def test_the_reaper_reaps_what_a_killed_worker_held(fencepost: Commands, submit: Submit) -> None:
    """A killed worker's job runs again, on another worker, within lease + reaper period."""
    scheduler = fencepost.start("scheduler", "--reap-every", "200ms")
    first = fencepost.worker()
    job = submit("nap", "--queue", "side", "--lease", "1s", "--payload", '{"seconds": 1.5}')
    began(fencepost, job)
    first.ask(signal.SIGKILL)
    second = fencepost.worker()
    done = fencepost.run("jobs", "wait", str(job), "--timeout", "30s")
    assert done.returncode == 0
    assert (second.stop(), scheduler.stop()) == (0, 0)
    events = {event["name"]: event for event in fencepost.lines("jobs", "history", str(job))}
    assert late(events) < 5.0
    assert fencepost.json("audit", "verify")["clean"]


def late(events: dict[str, dict[str, Any]]) -> float:
    """Seconds between the lease's end and its reaping."""
    expired = events["lease_expired"]
    reaped, ended = (datetime.fromisoformat(expired[name]) for name in ("at", "lease_expires_at"))
    return (reaped - ended).total_seconds()
