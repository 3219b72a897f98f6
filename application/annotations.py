"""The annotations of a handler's arguments: each must be something that a JSON value can be read as."""

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import msgspec

from ..domain.errors import FencepostError


class BadHandler(FencepostError):
    """A function cannot be a handler: it needs a context first and named arguments after it."""


def annotations(function: Callable[..., Any], name: str, arguments: Iterable[str]) -> dict[str, Any]:
    """Return what each of these arguments is annotated with; none at all, and ``object``, mean any JSON value.

    Other annotations, such as the context's, are not looked at: they may name what only type checkers import. Raises
    BadHandler when one cannot be resolved, or no JSON value can be read as it.
    """
    hints = _resolved(function, name, arguments)
    return {argument: _readable(name, argument, hints.get(argument, Any)) for argument in arguments}


def _resolved(function: Callable[..., Any], name: str, arguments: Iterable[str]) -> Mapping[str, Any]:
    plain = inspect.unwrap(function)
    while isinstance(plain, functools.partial):
        plain = inspect.unwrap(plain.func)
    plain = getattr(plain, "__func__", plain)
    written = getattr(plain, "__annotations__", {})
    wanted = SimpleNamespace(
        __annotations__={argument: written[argument] for argument in arguments if argument in written}
    )
    try:
        return typing.get_type_hints(wanted, getattr(plain, "__globals__", {}), include_extras=True)
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise BadHandler(f"{name}: the annotations cannot be resolved: {error}") from error


def _readable(name: str, argument: str, annotation: Any) -> Any:
    if annotation is Any or annotation is object:
        return Any
    try:
        msgspec.json.schema(annotation)
    except (TypeError, ValueError, NameError, RuntimeError) as error:
        reason = str(error).splitlines()[-1]
        raise BadHandler(f"{name}: argument {argument!r} cannot be read from JSON: {reason}") from error
    return annotation
