"""`fencepost jobs`: what operators look at and do."""

import json
from collections.abc import Callable

import psycopg
import pytest

from support.commands import Commands

Submit = Callable[..., int]


def test_a_submitted_job_is_shown_with_everything_that_was_asked(fencepost: Commands) -> None:
    """What was typed is what the job's row and its first event say."""
    job_id = fencepost.json(
        *(
            "jobs",
            "submit",
            "mail.send",
            "--payload",
            '{"to": "ann", "n": 12345678901234567890}',
            "--queue",
            "mail",
        ),
        *(
            "--priority",
            "8",
            "--run-at",
            "2030-01-31T12:00:00+01:00",
            "--max-attempts",
            "3",
            "--timeout",
            "90s",
        ),
        *("--lease", "5s", "--effect-key", "mail-1", "--reason", "by hand"),
    )["job_id"]
    job = fencepost.json("jobs", "show", str(job_id))
    assert (job["type"], job["queue"], job["state"], job["priority"]) == ("mail.send", "mail", "pending", 8)
    assert (job["run_at"], job["max_attempts"]) == ("2030-01-31T11:00:00.000000Z", 3)
    assert (job["timeout"], job["lease"], job["effect_key"]) == (90, 5, "mail-1")
    assert job["payload"] == {"to": "ann", "n": 12345678901234567890}
    [event] = fencepost.lines("jobs", "history", str(job_id))
    assert (event["name"], event["seq"], event["reason"]) == ("enqueued", 1, "by hand")
    assert event["actor"].startswith("user:")
    assert event["request_id"]


def test_a_payload_comes_from_a_file_or_from_stdin(fencepost: Commands) -> None:
    """`@FILE` and `-` spare the shell's quoting."""
    (fencepost.folder / "payload.json").write_text('{"text": "from a file"}')
    from_file = fencepost.json("jobs", "submit", "echo", "--payload", "@payload.json")["job_id"]
    from_stdin = fencepost.json("jobs", "submit", "echo", "--payload", "-", stdin='{"text": "from stdin"}')[
        "job_id"
    ]
    texts = [fencepost.json("jobs", "show", str(job))["payload"]["text"] for job in (from_file, from_stdin)]
    assert texts == ["from a file", "from stdin"]


def test_a_submit_key_gives_the_first_jobs_answer_and_refuses_another_request(fencepost: Commands) -> None:
    """The same again is answered with the same job; another request under the key is a conflict, exit code 4."""
    asked = ("jobs", "submit", "echo", "--key", "once")
    first, again = fencepost.json(*asked), fencepost.json(*asked)
    assert first == {"job_id": first["job_id"], "created": True}
    assert again == {"job_id": first["job_id"], "created": False}
    other = fencepost.run(*asked, "--priority", "9")
    assert (other.returncode, other.stdout, other.stderr.count("\n")) == (4, "", 1)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["no spaces allowed"], "type"),
        (["echo", "--payload", "{"], "payload"),
        (["echo", "--payload", "[]"], "payload"),
        (["echo", "--payload", '{"a": 1, "a": 2}'], "payload"),
        (["echo", "--payload", "@missing.json"], "payload"),
        (["echo", "--priority", "10"], "priority"),
        (["echo", "--queue", ""], "queue"),
        (["echo", "--delay", "soon"], "delay"),
        (["echo", "--delay", "1s", "--run-at", "2030-01-01T00:00:00Z"], "delay"),
        (["echo", "--run-at", "2030-01-01T00:00:00"], "run_at"),
        (["echo", "--key", " "], "key"),
        (["echo", "--max-attempts", "0"], "max_attempts"),
        (["echo", "--retry", "15m..10s"], "retry"),
        (["echo", "--timeout", "0s"], "timeout"),
        (["echo", "--reason", "x" * 2_001], "reason"),
    ],
)
def test_bad_input_is_one_line_naming_field_and_rule(
    bare: Commands, arguments: list[str], field: str
) -> None:
    """What the domain refuses is a usage error, said before any connection is made."""
    done = bare.run("jobs", "submit", *arguments, "--database-url", "postgresql://127.0.0.1:1/jobs")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"error: {field}: must ") or "not found" in done.stderr


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ('{"a": 1,\n "b"}', "must be JSON; at line 2, column 5: Expecting ':' delimiter"),
        ("@bad.json", "must be JSON; at line 3, column 1: Expecting value (in bad.json)"),
        ("-", "must be JSON; at line 1, column 1: Expecting value (in stdin)"),
        ("@missing.json", "file 'missing.json' not found"),
        ("@.", "file '.' cannot be read: Is a directory"),
        ("@latin.json", "latin.json must be UTF-8"),
    ],
)
def test_a_payload_that_is_no_json_is_told_where_it_is_wrong(bare: Commands, payload: str, said: str) -> None:
    """The line and column, and the file that it comes from; a file that is not there is said to be not there."""
    (bare.folder / "bad.json").write_text('{"a":\n\n}')
    (bare.folder / "latin.json").write_bytes(b'{"a": "\xe9"}')
    done = bare.run("jobs", "submit", "echo", "--payload", payload, stdin="none")
    assert (done.returncode, done.stderr) == (2, f"error: payload: {said}\n")


def test_jobs_are_listed_by_what_they_are(fencepost: Commands, submit: Submit) -> None:
    """Conditions hold together, newest first; the next page is named on stderr, beside the data."""
    mail = [submit("echo", "--queue", "mail") for _ in range(3)]
    other = submit("other", "--queue", "mail")
    submit("echo", "--queue", "slow")
    found = fencepost.lines("jobs", "list", "--queue", "mail", "--type", "echo", "--state", "pending")
    assert [job["job_id"] for job in found] == mail[::-1]
    page = fencepost.run("jobs", "list", "--queue", "mail", "--limit", "1")
    assert [json.loads(line)["job_id"] for line in page.stdout.splitlines()] == [other]
    assert f"--below {other}" in page.stderr
    assert fencepost.lines("jobs", "list", "--state", "dead", "--state", "cancelled") == []


def test_operations_answer_each_job_and_tell_the_worst_by_exit_code(
    fencepost: Commands, submit: Submit
) -> None:
    """Accepted and repeated is 0, no such job is 3, wrong state is 4; each refusal says why in a line on stderr."""
    job = str(submit("echo"))
    [accepted] = fencepost.lines("jobs", "cancel", job, "--reason", "not needed")
    assert accepted == {"job_id": int(job), "verdict": "accepted"}
    [again] = fencepost.lines("jobs", "cancel", job)
    assert again["verdict"] == "already_applied"
    missing = fencepost.run("jobs", "cancel", job, "999999")
    assert (missing.returncode, missing.stdout.count("\n"), missing.stderr.count("\n")) == (3, 2, 1)
    wrong = fencepost.run("jobs", "edit", job, "999999", "--priority", "1")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (4, 2)
    assert f"error: job {job}: edit: it is cancelled, and must be pending\n" in wrong.stderr


def test_a_locked_job_is_a_conflict_that_says_so(
    fencepost: Commands, submit: Submit, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody else holds the row the job is busy: exit code 4 after a while, and nothing is changed."""
    monkeypatch.setattr("fencepost.application.operating.BUSY_WAIT", 0.0)
    job = submit("echo")
    with psycopg.connect(database) as holder:
        holder.execute("SELECT FROM fencepost.jobs WHERE job_id = %s FOR UPDATE", [job])
        done = fencepost.run("jobs", "cancel", str(job))
    assert (done.returncode, json.loads(done.stdout)) == (4, {"job_id": job, "verdict": "busy"})
    assert "locked by somebody else; try again" in done.stderr
    assert fencepost.json("jobs", "show", str(job))["state"] == "pending"


def test_a_job_is_edited_cancelled_and_requeued(fencepost: Commands, submit: Submit) -> None:
    """The history tells who did what and why."""
    job = str(submit("echo", "--delay", "1h"))
    fencepost.run(
        "jobs", "edit", job, "--priority", "9", "--queue", "fast", "--payload", '{"n": 1}', "--reason", "a"
    )
    fencepost.run("jobs", "cancel", job, "--reason", "b")
    fencepost.run("jobs", "requeue", job, "--payload", '{"n": 2}', "--reason", "c")
    shown = fencepost.json("jobs", "show", job)
    assert (shown["state"], shown["priority"], shown["queue"], shown["payload"]) == (
        "pending",
        9,
        "fast",
        {"n": 2},
    )
    events = fencepost.lines("jobs", "history", job)
    told = [(event["name"], event.get("reason")) for event in events]
    assert told == [("enqueued", None), ("edited", "a"), ("cancelled", "b"), ("requeued", "c")]
    assert len({event["request_id"] for event in events}) == 4


@pytest.mark.parametrize("command", [["show"], ["history"], ["wait"], ["cancel"], ["requeue"], ["revoke"]])
def test_a_job_that_does_not_exist_is_exit_code_3(fencepost: Commands, command: list[str]) -> None:
    """Not found has its own exit code on every command."""
    done = fencepost.run("jobs", *command, "123456")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr


def test_waiting_has_an_end(fencepost: Commands, submit: Submit) -> None:
    """`wait` gives up after its timeout with exit code 1, and fails for a job that did not succeed."""
    job = str(submit("echo", "--delay", "1h"))
    done = fencepost.run("jobs", "wait", job, "--timeout", "200ms")
    assert (done.returncode, done.stdout) == (1, "")
    fencepost.run("jobs", "cancel", job)
    cancelled = fencepost.run("jobs", "wait", job)
    assert cancelled.returncode == 1
    assert json.loads(cancelled.stdout)["state"] == "cancelled"


def test_what_a_terminal_would_obey_is_escaped(fencepost: Commands) -> None:
    """Text from a job cannot move the cursor or change colours, in tables and in JSON alike."""
    evil = "\x1b[31m\x9b2J\u202egnp.exe\r\n[bold]"
    payload = json.dumps({"text": evil})
    job = str(fencepost.json("jobs", "submit", "echo", "--payload", payload)["job_id"])
    for show, output in (
        (fencepost.process, "table"),
        (fencepost.run, "json"),
        (fencepost.process, "ndjson"),
    ):
        shown = show("jobs", "show", job, "--output", output).stdout
        assert not {"\x1b", "\x9b", "\u202e", "\r"} & set(shown)
        assert "[bold]" in shown
    assert fencepost.json("jobs", "show", job)["payload"]["text"] == evil


def test_no_schema_is_said_in_one_line(fencepost: Commands) -> None:
    """A database without our tables is a failure that names the cure."""
    done = fencepost.run("jobs", "list", "--schema", "elsewhere")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "fencepost db migrate" in done.stderr
