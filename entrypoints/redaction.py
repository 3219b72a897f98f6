"""Addresses without their secrets."""

import re

_IN_ADDRESS = re.compile(r"(?<=://)([^/?#@]*?):([^/?#]*)(?=@)")
_NAMED = re.compile(r"\b((?:ssl)?password|passfile)(\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)", re.IGNORECASE)


def redacted(dsn: str) -> str:
    """Return a database address, URI or keywords, with its passwords replaced."""
    return _NAMED.sub(r"\1\2***", _IN_ADDRESS.sub(r"\1:***", dsn))
