"""Settings: defaults < fencepost.toml < environment < flags; nothing is silently ignored, nothing secret is shown."""

import pytest

from support.commands import Commands

URL = "postgresql://ann:s3cret@db.example/jobs"


def test_each_source_overrides_the_one_before(bare: Commands) -> None:
    """A flag beats the environment, which beats the file, which beats the default."""
    assert bare.json("config", "show")["schema"] == "fencepost"
    (bare.folder / "fencepost.toml").write_text('schema = "from_file"\npoll = "3s"\n')
    assert bare.json("config", "show")["schema"] == "from_file"
    variable = bare.having(FENCEPOST_SCHEMA="from_environment")
    assert variable.json("config", "show")["schema"] == "from_environment"
    shown = variable.json("config", "show", "--schema", "from_flag")
    assert (shown["schema"], shown["poll"]) == ("from_flag", "3s")


def test_the_database_is_looked_for_in_order(bare: Commands) -> None:
    """Our own setting comes before DATABASE_URL, which comes before libpq's variables."""
    libpq = bare.having(PGHOST="elsewhere")
    assert libpq.json("config", "show")["database_url"] == ""
    other = libpq.having(DATABASE_URL="postgresql://other/jobs")
    assert other.json("config", "show")["database_url"] == "postgresql://other/jobs"
    own = other.having(FENCEPOST_DATABASE_URL="postgresql://own/jobs")
    assert own.json("config", "show")["database_url"] == "postgresql://own/jobs"


@pytest.mark.parametrize(
    "address",
    [
        URL,
        "host=db.example user=ann password=s3cret",
        "postgresql://db.example/jobs?password=s3cret&user=ann",
    ],
)
def test_secrets_are_never_shown(bare: Commands, address: str) -> None:
    """A password in the database's address is left out of every output."""
    done = bare.run("config", "show", "--database-url", address, "--output", "json")
    assert done.returncode == 0
    assert "s3cret" not in done.stdout + done.stderr
    assert "ann" in done.stdout


def test_a_password_is_not_shown_when_connecting_fails(bare: Commands) -> None:
    """An unreachable database is exit code 5 and one line without the password."""
    done = bare.run("jobs", "list", "--database-url", "postgresql://ann:s3cret@127.0.0.1:1/jobs")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (5, "", 1)
    assert "s3cret" not in done.stderr


@pytest.mark.parametrize(
    ("name", "nearest"), [("FENCEPOST_QUEUE", "queues"), ("FENCEPOST_DRAINGRACE", "drain_grace")]
)
def test_an_unknown_name_is_an_error_with_a_suggestion(bare: Commands, name: str, nearest: str) -> None:
    """A misspelt variable is refused, and the nearest setting named."""
    done = bare.having(**{name: "1"}).run("config", "show")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"did you mean {nearest}?" in done.stderr


def test_an_unknown_name_in_the_file_is_an_error(bare: Commands) -> None:
    """The file is held to the same rule, and named."""
    (bare.folder / "fencepost.toml").write_text("databse_url = 'postgresql://own/jobs'")
    done = bare.run("config", "show")
    assert done.returncode == 2
    assert "fencepost.toml" in done.stderr
    assert "did you mean database_url?" in done.stderr


@pytest.mark.parametrize(
    "text", ["schema = ", "drain_grace = 'soon'", "queues = { mail = 'many' }", "api_port = 0.5"]
)
def test_a_file_that_breaks_a_rule_is_an_error(bare: Commands, text: str) -> None:
    """What is not TOML, and what a setting does not take, is one line naming it."""
    (bare.folder / "fencepost.toml").write_text(text)
    done = bare.run("config", "show")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


@pytest.mark.parametrize(
    "arguments", [("--database-url", "no address at all"), ("--database-url", "postgresql://h:port/x")]
)
def test_an_impossible_address_is_a_usage_error(bare: Commands, arguments: tuple[str, ...]) -> None:
    """Text that cannot be an address ends with exit code 2 at once, also for a worker."""
    for command in (["jobs", "list"], ["worker", "shop:app"], ["scheduler"]):
        done = bare.run(*command, *arguments)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("error: database_url: ")


def test_no_database_is_a_usage_error_that_says_what_to_do(bare: Commands) -> None:
    """Where no database is named and none runs, the command says how to name or start one."""
    done = bare.run("jobs", "list")
    assert done.returncode == 2
    assert "FENCEPOST_DATABASE_URL" in done.stderr
    assert "fencepost up" in done.stderr
