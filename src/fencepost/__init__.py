"""Fencepost: a distributed job scheduler on PostgreSQL that can prove what it did.

Public names are loaded when first used, so that `import fencepost` costs next to nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

# public name -> module that defines it, relative to this package
_PUBLIC: dict[str, str] = {}


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_PUBLIC[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
