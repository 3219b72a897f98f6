"""Finding a user's app by name: ``myapp.jobs:app``."""

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from ..domain.errors import InvalidInput
from .library.app import Fencepost

FIELD = "app"
NOT_THEIRS = (str(Path(__file__).parents[1]), "<")
"""How the names of our own files and of the interpreter's begin."""


def load_app(target: str) -> Fencepost:
    """Import an app from the current directory or the installed packages; raises InvalidInput."""
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute or not module_name.replace(".", "_").isidentifier():
        raise InvalidInput(FIELD, f"must be MODULE:APP such as myapp.jobs:app, not {target!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    module = _imported(module_name)
    app: object = module
    for name in attribute.split("."):
        app = getattr(app, name, None)
    if not isinstance(app, Fencepost):
        raise InvalidInput(FIELD, _hint(module, attribute, app))
    if not app.handlers.types:
        raise InvalidInput(FIELD, f"{target} has no handlers: decorate functions with @{attribute}.job()")
    return app


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise InvalidInput(
                FIELD, f"there is no module {error.name!r}, neither here nor among the installed packages"
            ) from error
        raise InvalidInput(FIELD, _blame(name, error)) from error
    except Exception as error:
        raise InvalidInput(FIELD, _blame(name, error)) from error


def _blame(name: str, error: Exception) -> str:
    """Say what was raised and in which line of theirs; a SyntaxError names its place by itself."""
    said = f"importing {name} raised {type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(NOT_THEIRS)]
    if isinstance(error, SyntaxError) or not theirs:
        return said
    return f"{said} ({theirs[-1].filename}:{theirs[-1].lineno})"


def _hint(module: ModuleType, attribute: str, found: object) -> str:
    apps = [name for name, value in vars(module).items() if isinstance(value, Fencepost)]
    wrong = "does not exist" if found is None else f"is a {type(found).__name__}, not a Fencepost app"
    hint = f"; there is {', '.join(apps)}" if apps else ""
    return f"{attribute!r} in module {module.__name__} {wrong}{hint}"
