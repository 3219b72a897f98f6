"""Help is quick because it loads nothing that commands need, and the same for all of them."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable

import pytest

from support.commands import Commands

HEAVY = {
    "sqlalchemy",
    "psycopg",
    "fastapi",
    "alembic",
    "structlog",
    "dependency_injector",
    "rich.table",
    "environ",
}
UNUSED = {
    "sqlalchemy.ext.asyncio",
    "sqlalchemy.orm",
    "structlog",
    "stamina",
    "alembic",
    "fastapi",
    "rich.table",
}
LOADED = """
import json, sys
from fencepost.entrypoints.cli.main import run
codes = [run(command) for command in {commands!r}]
sys.stderr.write(json.dumps([codes, sorted(sys.modules)]))
"""
GROUPS = ["jobs", "dead", "queues", "schedules", "audit", "db", "config"]
RUN = ["up", "worker", "scheduler", "api", "bench"]


def run_apart(commands: list[list[str]], *, bare: Commands) -> tuple[list[int], set[str]]:
    """Run commands in one fresh process; returns their exit codes and the modules loaded at the end."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(commands=commands)],
        check=True,
        cwd=bare.folder,
        env=dict(bare.environment),
        capture_output=True,
        text=True,
    )
    codes, modules = json.loads(done.stderr.splitlines()[-1])
    return codes, set(modules)


def test_help_loads_nothing_heavy(bare: Commands) -> None:
    """Neither the database driver nor the web framework is imported to show help, whatever it is about."""
    commands = [[], *([group] for group in GROUPS), ["jobs", "submit"], ["worker"], ["up"], ["bench"]]
    codes, modules = run_apart([[*command, "--help"] for command in commands], bare=bare)
    assert codes == [0] * len(commands)
    assert HEAVY & modules == set()


def test_data_commands_load_only_what_they_use(fencepost: Commands) -> None:
    """What only workers, servers and callers' transactions need keeps nobody waiting who reads or submits."""
    commands = [["jobs", "submit", "echo"], ["jobs", "list"], ["jobs", "cancel", "1"], ["audit", "verify"]]
    codes, modules = run_apart([*commands, ["queues", "list"]], bare=fencepost)
    assert codes == [0] * 5
    assert UNUSED & modules == set()


def test_an_interrupt_during_imports_is_no_traceback(bare: Commands) -> None:
    """Ctrl-C that comes before the command line is loaded ends it as quietly as one that comes later."""
    (bare.folder / "cyclopts.py").write_text("raise KeyboardInterrupt\n")
    done = bare.process("jobs", "list")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("command", [[], ["jobs", "submit"]])
def test_help_is_quick(bare: Commands, command: list[str]) -> None:
    """Help takes less of a processor than three times loading the two libraries that draw it."""

    def drawn() -> None:
        assert bare.process(*command, "--help").returncode == 0

    def loaded() -> None:
        subprocess.run([sys.executable, "-c", "import cyclopts, rich.console"], check=True)

    assert cheapest(drawn) < 3 * cheapest(loaded)


def cheapest(run: Callable[[], None]) -> float:
    """The processor time of a child, the best of five: others use this processor, too."""
    spans = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spans.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spans)


@pytest.mark.parametrize(
    "command",
    [*([name] for name in RUN), ["jobs", "list"], ["dead", "requeue"], ["schedules", "add"], ["db", "sql"]],
)
def test_every_command_has_the_common_flags(bare: Commands, command: list[str]) -> None:
    """Where the database is and how data are printed can be said everywhere."""
    shown = bare.run(*command, "--help").stdout
    assert all(flag in shown for flag in ("--database-url", "--schema", "--output"))


def test_the_version_is_data(bare: Commands) -> None:
    """`--version` prints the version on stdout and nothing else."""
    import fencepost

    done = bare.run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{fencepost.__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["jobz"],
        ["jobs", "submitt"],
        ["jobs", "submit"],
        ["jobs", "list", "--stat", "dead"],
        ["jobs", "list", "--state", "done"],
        ["jobs", "show", "one"],
        ["jobs", "list", "--output", "xml"],
    ],
)
def test_a_usage_error_is_one_line_and_exit_code_2(bare: Commands, arguments: list[str]) -> None:
    """What cannot be understood is said on stderr in one line, without a traceback."""
    done = bare.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("jobs submit echo --priority x", "--priority: must be a whole number, not 'x'"),
        ("jobs cancel 1 x", "JOB_IDS: must be a whole number, not 'x'"),
        ("jobs list --output xml", "--output: must be one of table, json, ndjson, not 'xml'"),
        ("jobs list --state ded", "must be one of pending, running, succeeded, dead, cancelled, not 'ded'"),
        ("jobs list --state ded", 'Did you mean "dead"?'),
        ("schedules delete a --yes=maybe", "--yes: must be true or false, not 'maybe'"),
        ("schedules next", "--cron: must be given\n"),
        ("schedules next --crom x", "Did you mean --cron instead of --crom?"),
        ("jobs submit", "TYPE: must be given: fencepost jobs submit TYPE"),
        ("jobs submit echo --delay", "--delay: must be followed by a value\n"),
        ("jobs submit echo --delay --queue a", "--delay: must be followed by a value\n"),
        ("jobs submit echo --delay -3s", "one that begins with - is written --delay=-3s"),
        ("jobs submit echo --queue a --queue b", "--queue: must not be given twice"),
        (
            "jobs submit echo more",
            "'more': must be left out: fencepost jobs submit takes no further argument",
        ),
        ("jobs list --stat dead", "Unknown option: --stat. Did you mean --state?"),
    ],
)
def test_what_the_parser_refuses_names_the_option_and_the_rule(
    bare: Commands, arguments: str, said: str
) -> None:
    """As what the domain refuses names the field, so that nobody has to guess what to write."""
    done = bare.run(*arguments.split())
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
