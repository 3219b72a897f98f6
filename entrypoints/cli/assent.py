"""Asking people before something is done that cannot be taken back."""

import sys
from collections.abc import Sequence

from ...domain.errors import InvalidInput
from .exits import Failed
from .terminal import is_terminal


def ask(question: str, rule: str) -> None:
    """Return when the answer given on the terminal is yes, and raise Failed for any other.

    Where there is no terminal, raises InvalidInput with ``rule`` about --yes.
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise InvalidInput("--yes", rule)
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise Failed("nothing was changed: the answer was not yes")


def ask_to_delete(names: Sequence[str]) -> None:
    """Ask whether schedules shall be deleted; raises as ``ask`` does."""
    told = ", ".join(names)
    question = f"delete schedule {told}?" if len(names) == 1 else f"delete {len(names)} schedules: {told}?"
    ask(question, "must be given to delete without a terminal")
