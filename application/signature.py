"""A handler's signature is its payload's schema: a mismatch is an error at the caller, not a dead job at night."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from attrs import field, frozen

from ..domain.errors import InvalidInput
from .annotations import BadHandler, annotations, takes_context

__all__ = ["BadHandler", "Signature", "signature"]

_PLAIN = (str, int, float, bool)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_FIRST = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_PLACE = re.compile(r"^(?P<rule>.*) - at `\$(?P<path>\S+)`$", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")


@frozen
class Signature:
    """The arguments after the context, with their annotations."""

    parameters: Mapping[str, inspect.Parameter]
    annotations: Mapping[str, Any]
    _as_they_are: Mapping[str, type] = field(init=False)
    """The arguments whose JSON values are taken as they are when they are of this very type."""

    @_as_they_are.default
    def _plain(self) -> Mapping[str, type]:
        return {name: kind for name, kind in self.annotations.items() if kind in _PLAIN}

    def payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the payload of a call: JSON values by argument name.

        Values (attrs classes, dataclasses, enums, datetimes, UUIDs, decimals …) are turned into JSON values and
        read back as the annotation demands, strictly. Arguments left at their default are not part of it. Raises
        InvalidInput naming the argument.
        """
        given = kwargs
        if args or kwargs.keys() != self.parameters.keys():
            given = self._given(args, kwargs)
        plain = self._as_they_are
        return {
            name: value if type(value) is plain.get(name) else self._as_json(name, value)
            for name, value in given.items()
        }

    def completed(self, payload: Mapping[str, Any], names: tuple[str, ...] | None) -> dict[str, Any]:
        """Return the payload with the defaults of these arguments (None: of all) where it has none."""
        defaults = {
            name: self._as_json(name, parameter.default)
            for name, parameter in self.parameters.items()
            if name not in payload
            and parameter.default is not inspect.Parameter.empty
            and (names is None or name in names)
        }
        return {**payload, **defaults}

    def bind(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments a payload stands for; raises InvalidInput for unknown, missing or wrong ones."""
        if payload.keys() != self.parameters.keys():
            self._check_names(payload)
        plain = self._as_they_are
        return {
            name: value if type(value) is plain.get(name) else self._as_argument(name, value)
            for name, value in payload.items()
        }

    def _given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        by_name = self._by_name(args)
        if twice := kwargs.keys() & by_name.keys():
            raise InvalidInput(f"payload.{min(twice)}", "is given twice")
        given = {**by_name, **kwargs}
        self._check_names(given)
        return given

    def _by_name(self, args: tuple[Any, ...]) -> dict[str, Any]:
        names = [
            name
            for name, parameter in self.parameters.items()
            if parameter.kind is not parameter.KEYWORD_ONLY
        ]
        if len(args) > len(names):
            raise InvalidInput("payload", f"takes {len(names)} positional arguments, not {len(args)}")
        return dict(zip(names, args, strict=False))

    def _check_names(self, given: Mapping[str, Any]) -> None:
        if unknown := given.keys() - self.parameters.keys():
            raise InvalidInput(f"payload.{min(unknown, key=str)}", "is not an argument of the handler")
        for name, parameter in self.parameters.items():
            if parameter.default is inspect.Parameter.empty and name not in given:
                raise InvalidInput(f"payload.{name}", "is missing")

    def _as_json(self, name: str, value: Any) -> Any:
        try:
            # In one order always: that of a set differs between processes, and submit keys compare requests.
            encoded = msgspec.to_builtins(value, str_keys=True, order="deterministic")
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
            raise _placed(name, str(error)) from error


def signature(function: Callable[..., Any]) -> Signature:
    """Read a handler's signature.

    Raises BadHandler for what is no function of a context and named arguments, and for an annotation that no JSON
    value can be read as.
    """
    name = getattr(function, "__qualname__", repr(function))
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise BadHandler(f"{name} must not be a generator: calling it would run nothing")
    first, *rest = _parameters(function, name)
    if first.kind not in _FIRST:
        raise BadHandler(f"{name} must take the context as its first argument")
    if any(parameter.kind not in _NAMED for parameter in rest):
        raise BadHandler(f"{name} must name each argument after the context")
    if not takes_context(function, name, first.name):
        raise BadHandler(
            f"{name} must take the context as its first argument: {first.name!r} is annotated with something else"
        )
    known = {parameter.name: parameter for parameter in rest}
    return Signature(known, annotations(function, name, known))


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError, NameError) as error:
        raise BadHandler(f"{name} has no signature that can be read: {error}") from error
    if not found:
        raise BadHandler(f"{name} must take the context as its first argument")
    return found


def _placed(name: str, message: str) -> InvalidInput:
    """Say where inside an argument, as the rest of our errors do."""
    found = _PLACE.match(message)
    if found is None:
        return InvalidInput(f"payload.{name}", message)
    steps = [int(index) if index.isdigit() else key or "*" for key, index in _STEP.findall(found["path"])]
    return InvalidInput(f"payload.{name}", found["rule"], tuple(steps))
