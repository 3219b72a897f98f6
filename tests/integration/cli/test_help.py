"""Help is quick because it loads nothing that commands need, and the same for all of them."""

import json
import subprocess
import sys

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
LOADED = """
import json, sys
from fencepost.entrypoints.cli.main import run
code = run({arguments!r})
sys.stderr.write(json.dumps([code, sorted(sys.modules)]))
"""
GROUPS = ["jobs", "dead", "queues", "audit", "db", "config"]
RUN = ["up", "worker", "scheduler", "api"]


@pytest.mark.parametrize(
    "command", [[], *([group] for group in GROUPS), ["jobs", "submit"], ["worker"], ["up"]]
)
def test_help_loads_nothing_heavy(command: list[str]) -> None:
    """Neither the database driver nor the web framework is imported to show help."""
    program = LOADED.format(arguments=[*command, "--help"])
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    code, modules = json.loads(done.stderr)
    assert code == 0
    assert "Usage: fencepost" in done.stdout
    assert HEAVY & set(modules) == set()


@pytest.mark.parametrize(
    "command", [*([name] for name in RUN), ["jobs", "list"], ["dead", "requeue"], ["db", "sql"]]
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
