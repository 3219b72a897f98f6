"""Lines of the form ``NAME = value``: they hold for the lines below them."""

import re
from collections.abc import Mapping

from ...domain.errors import InvalidInput
from ...domain.zones import zone
from .differences import differences
from .found import Refused

VARIABLES = 100
"""Different names in one crontab."""
VALUES_CHARACTERS = 16_384
"""All values in force at one line together."""
_SETTING = re.compile(
    r"""
    (?P<name> "[^"=]*" | '[^'=]*' | [^\s="'][^\s=]* ) \s* = \s*
    (?: "(?P<double>[^"]*)" \s* | '(?P<single>[^']*)' \s* | (?P<plain>[^\s"'].*)? )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_BEGUN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*=")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CRON = " \t\n\v\f\r"


def setting(line: str) -> tuple[str, str] | None:
    """Return the name and the value of a setting, None for any other line.

    Quotes around either are taken off if they match; blanks around them are dropped. Nothing is expanded.
    """
    found = _SETTING.fullmatch(line)
    if found is None:
        return None
    values = (found["double"], found["single"], (found["plain"] or "").rstrip(_CRON))
    name = found["name"]
    return name.strip(name[0]) if name[0] in "\"'" else name, next(v for v in values if v is not None)


def name_of_setting(line: str) -> str | None:
    """Return the name that a line begins to set, whether it can be read to its end or not."""
    found = _BEGUN.match(line)
    return None if found is None else found[1]


def misquoted() -> Refused:
    """Return what a line that begins like a setting and is none is refused with."""
    return Refused(
        "the value's quotes do not match, or something follows them",
        "close the quotes at the line's end; a comment needs a line of its own",
    )


class Settings:
    """The settings in force, line after line."""

    def __init__(self, default_zone: str) -> None:
        """Begin with nothing set."""
        self._default_zone = default_zone
        self.zone = default_zone
        self.environment: Mapping[str, str] = {}
        """Replaced, never changed: entries keep what was in force at their line."""

    def put(self, name: str, value: str) -> list[str]:
        """Set a variable for the lines below; return what is different here. Raises Refused."""
        if not _NAME.fullmatch(name):
            raise Refused(
                f"{name[:40]!r} cannot be the name of a variable", "use letters, digits and underscores"
            )
        changed = {**self.environment, name: value}
        if len(changed) > VARIABLES or sum(map(len, changed.values())) > VALUES_CHARACTERS:
            raise Refused(
                f"the crontab sets more than {VARIABLES} variables or {VALUES_CHARACTERS} characters of them",
                "set them in a script and run that",
            )
        if name == "CRON_TZ":
            self.zone = self._zone(value)
        if name != "LOGNAME":
            self.environment = changed
        return list(differences(name, value))

    def _zone(self, value: str) -> str:
        if not value:
            return self._default_zone
        try:
            return zone("CRON_TZ", value).key
        except InvalidInput as error:
            raise Refused(f"CRON_TZ {error.rule}") from error
