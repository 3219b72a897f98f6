"""The `fencepost` command."""

from cyclopts import App

from ... import __version__

app = App(
    name="fencepost",
    help="A distributed job scheduler on PostgreSQL that can prove what it did.",
    version=__version__,
)


def main() -> None:
    """Run the command line and leave with its exit code."""
    app()
