"""`python -m fencepost.entrypoints.cli` is the `fencepost` command."""

from .main import main

main()
