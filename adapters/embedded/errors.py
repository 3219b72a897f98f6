"""What can go wrong with an embedded server.

EmbeddedError
├── NoBinaries              no usable PostgreSQL programs
├── NoUnprivilegedUser      root has nobody to hand the server to
├── Unreachable             the server's user cannot get at its binaries or data
├── ForeignDataFolder       the data folder was not made here
├── IncompatibleDataFolder  the data folder was made by another major version
├── InitializationFailed    initdb did not succeed
├── StartFailed             the server ended while starting
├── StartTimeout            the server did not accept connections in time
└── StopFailed              the server is still there
"""


class EmbeddedError(Exception):
    """An embedded server cannot do what was asked."""


class NoBinaries(EmbeddedError):
    """No usable PostgreSQL programs were found."""


class NoUnprivilegedUser(EmbeddedError):
    """PostgreSQL refuses to run as root, and there is no user to hand it to."""


class Unreachable(EmbeddedError):
    """The user the server runs as cannot reach what it needs."""


class ForeignDataFolder(EmbeddedError):
    """The data folder holds something that was not made here."""


class IncompatibleDataFolder(EmbeddedError):
    """The data folder belongs to another major version of PostgreSQL."""


class InitializationFailed(EmbeddedError):
    """A data folder could not be made."""


class StartFailed(EmbeddedError):
    """The server ended while it was starting."""


class StartTimeout(EmbeddedError):
    """The server did not accept connections in time."""


class StopFailed(EmbeddedError):
    """The server did not end in time."""
