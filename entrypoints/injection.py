"""dependency-injector, without the web framework it would import merely because that is installed.

Only its wiring of route functions needs the framework, which we do not use; every command would wait for it.
"""

import sys

_UNWANTED = tuple(name for name in ("fastapi", "starlette") if name not in sys.modules)
for _name in _UNWANTED:
    sys.modules[_name] = None  # type: ignore[assignment]  # how Python marks a module that must not be found
try:
    from dependency_injector import containers, providers
finally:
    for _name in _UNWANTED:
        del sys.modules[_name]

__all__ = ["containers", "providers"]
