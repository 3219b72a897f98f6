"""The annotations of a handler's arguments: each must be something that a JSON value can be read as."""

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace, UnionType
from typing import Any, TypeVar

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


def takes_context(function: Callable[..., Any], name: str, first: str) -> bool:
    """Tell whether a handler's first argument can be the context, as far as its annotation says.

    None at all, ``Any``, protocols, and names that only type checkers import are taken on trust.
    """
    try:
        annotation = _resolved(function, name, [first]).get(first, Any)
    except BadHandler:
        return True
    return _may_be_context(annotation)


def _may_be_context(annotation: Any) -> bool:
    from .context import Context  # noqa: PLC0415 - whoever wrote it down has loaded it; others need not wait for it

    if annotation is Any or isinstance(annotation, TypeVar) or getattr(annotation, "_is_protocol", False):
        return True
    if isinstance(annotation, type):
        return issubclass(annotation, Context) or issubclass(Context, annotation)
    if hasattr(annotation, "__metadata__"):
        return _may_be_context(annotation.__origin__)
    origin = typing.get_origin(annotation)
    if isinstance(origin, type) and origin is not UnionType:
        return _may_be_context(origin)
    arguments = typing.get_args(annotation)
    return not arguments or any(map(_may_be_context, arguments))


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
