"""A handler's signature is its payload's schema: a mismatch is an error at the caller, not a dead job at night."""

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from attrs import frozen

from ..domain.errors import FencepostError, InvalidInput


class BadHandler(FencepostError):
    """A function cannot be a handler: it needs a context first and named arguments after it."""


@frozen
class Signature:
    """The arguments after the context, with their annotations."""

    parameters: Mapping[str, inspect.Parameter]
    annotations: Mapping[str, Any]
    bindable: inspect.Signature

    def payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the payload of a call: JSON values by argument name.

        Values (attrs classes, dataclasses, enums, datetimes, UUIDs, decimals …) are turned into JSON values and
        read back as the annotation demands, strictly. Raises InvalidInput naming the argument.
        """
        try:
            bound = self.bindable.bind(*args, **kwargs)
        except TypeError as error:
            raise InvalidInput("payload", str(error)) from error
        return {name: self._as_json(name, value) for name, value in bound.arguments.items()}

    def bind(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments a payload stands for; raises InvalidInput for unknown, missing or wrong ones."""
        unknown = payload.keys() - self.parameters.keys()
        if unknown:
            raise InvalidInput(f"payload.{min(unknown)}", "is not an argument of the handler")
        for name, parameter in self.parameters.items():
            if parameter.default is inspect.Parameter.empty and name not in payload:
                raise InvalidInput(f"payload.{name}", "is missing")
        return {name: self._as_argument(name, value) for name, value in payload.items()}

    def _as_json(self, name: str, value: Any) -> Any:
        try:
            encoded = msgspec.to_builtins(value, str_keys=True)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"payload.{name}", f"must be a JSON value: {error}") from error
        self._as_argument(name, encoded)
        return encoded

    def _as_argument(self, name: str, value: Any) -> Any:
        annotation = self.annotations[name]
        if annotation is Any:
            return value
        try:
            return msgspec.convert(value, annotation, strict=True, str_keys=True)
        except msgspec.ValidationError as error:
            raise InvalidInput(f"payload.{name}", str(error)) from error


def signature(function: Callable[..., Any]) -> Signature:
    """Read a handler's signature.

    Raises BadHandler without a context as first argument, with positional-only or variadic arguments, or
    with an annotation that no JSON value can be read as.
    """
    name = getattr(function, "__qualname__", repr(function))
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        raise BadHandler(f"{name} must take the context as its first argument")
    rest = parameters[1:]
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(parameter.kind not in named for parameter in rest):
        raise BadHandler(f"{name} must name each argument after the context")
    return Signature(
        {parameter.name: parameter for parameter in rest},
        _annotations(function, name, rest),
        inspect.Signature(rest),
    )


def _annotations(
    function: Callable[..., Any], name: str, parameters: list[inspect.Parameter]
) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise BadHandler(f"{name}: the annotations cannot be resolved: {error}") from error
    found = {parameter.name: hints.get(parameter.name, Any) for parameter in parameters}
    for argument, annotation in found.items():
        try:
            msgspec.json.schema(annotation)
        except TypeError as error:
            raise BadHandler(f"{name}: argument {argument!r}: {error}") from error
    return found
