"""A server that accepts connections."""

import attrs


@attrs.frozen
class Running:
    """Where to connect; `adopted` tells that somebody else had started it. The DSN holds the password."""

    dsn: str = attrs.field(repr=False)
    pid: int
    version: str
    adopted: bool
