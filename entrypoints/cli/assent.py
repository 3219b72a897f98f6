"""Asking people before something is done that cannot be taken back."""

import sys

from ...domain.errors import InvalidInput
from .terminal import is_terminal


def agreed(question: str, rule: str) -> bool:
    """Return the answer given on the terminal; raises InvalidInput with ``rule`` about --yes where there is none."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise InvalidInput("--yes", rule)
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
