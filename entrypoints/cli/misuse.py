"""What is wrong with a command line that the parser does not understand: the option, and the rule that it breaks."""

from collections.abc import Iterable
from enum import Enum
from typing import get_args

from cyclopts import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    Token,
    UnusedCliTokensError,
)

KINDS = {int: "a whole number", float: "a number", bool: "true or false"}
_HINT = " Did you mean "


def told(error: CycloptsError) -> str:
    """Return ``OPTION: RULE``, with the parser's guess at what was meant; where it says more, its own words."""
    match error:
        case MissingArgumentError():
            said = _missing(error)
        case CoercionError(token=Token() as token):
            said = f"{_name(error)}: must be {_kind(error.target_type)}, not {token.value!r}"
        case RepeatArgumentError():
            return f"{error.token.keyword}: must not be given twice"
        case UnusedCliTokensError(unused_tokens=[str() as first, *_]):
            return f"{first!r}: must be left out: {_command(error)} takes no further argument"
        case _:
            return str(error)
    _, hint, guess = str(error).partition(_HINT)
    return f"{said}.{hint}{guess}" if hint else said


def _missing(error: MissingArgumentError) -> str:
    name = _name(error)
    if error.keyword is not None:
        return (
            f"{error.keyword}: must be followed by a value{_dashed(error.keyword, error.unused_tokens or ())}"
        )
    if name.startswith("-"):
        return f"{name}: must be given"
    return f"{name}: must be given: {_command(error)} {name}"


def _dashed(option: str, given: Iterable[str]) -> str:
    """Return how a value is written that looks like an option."""
    rest = iter(given)
    following = next(rest, "") if option in rest else ""
    if not following.startswith("-") or following.startswith("--"):
        return ""
    return f"; one that begins with - is written {option}={following}"


def _name(error: CoercionError | MissingArgumentError) -> str:
    token = error.token if isinstance(error, CoercionError) else None
    if token is not None and token.keyword is not None:
        return token.keyword
    return "argument" if error.argument is None else error.argument.name


def _kind(target: object) -> str:
    if isinstance(target, type) and issubclass(target, Enum):
        return f"one of {', '.join(str(one.value) for one in target)}"
    if isinstance(target, type):
        return KINDS.get(target, f"a {target.__name__}")
    return f"one of {', '.join(map(str, get_args(target)))}"


def _command(error: CycloptsError) -> str:
    return " ".join(("fencepost", *(error.command_chain or ())))
