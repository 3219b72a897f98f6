"""Reading a crontab: line by line, with the settings in force at each."""

from ...domain.errors import InvalidInput
from ...domain.recurrence import recurrence
from ...domain.values import cleaned
from ...domain.zones import zone
from .command import command_and_input, without_options
from .found import Crontab, Entry, Format, Note, Refusal, Refused
from .lines import active_lines, check_line, split_lines
from .naming import Names
from .recognition import could_name_users, recognised
from .settings import Settings, name_of_setting, setting
from .shape import times_and_rest, user_and_command

AUTO = "auto"
SHOWN_BYTES = 500


def read_crontab(
    text: str, *, format: str = AUTO, tz: object = "UTC", prefix: object = "crontab/"
) -> Crontab:
    """Return what a crontab says.

    ``text`` is the file's, decoded as UTF-8 with ``surrogateescape``, so that a line with other bytes is refused alone.
    ``format`` is ``user``, ``system``, or ``auto``, which looks for a column of user names. ``tz`` is the zone of times
    without a CRON_TZ above them; all names begin with ``prefix``. Raises InvalidInput for a bad argument and for a file
    that is too large; a bad line is a refusal.
    """
    lines = split_lines(text)
    active = active_lines(lines)
    entries = [(number, line) for number, line in active if setting(line) is None]
    kind = _format(format, lines, [line for _, line in entries])
    reader = _Reader(kind, Settings(zone("tz", tz).key), Names(prefix))
    reader.notes += _about_the_file(text, len(lines), active)
    if format == AUTO and kind == "user" and could_name_users([line for _, line in entries]):
        reader.note(
            entries[0][0],
            "read as a user's crontab; if its commands begin with users' names, read it as a system crontab",
        )
    for number, line in active:
        reader.read(number, line)
    notes = sorted(reader.notes, key=lambda note: note.line)
    return Crontab(kind, tuple(reader.entries), tuple(reader.refusals), tuple(notes))


def _format(format: str, lines: list[str], entries: list[str]) -> Format:
    if format == AUTO:
        return recognised(lines, entries)
    if format == "user":
        return "user"
    if format == "system":
        return "system"
    raise InvalidInput("format", "must be user, system or auto")


def _about_the_file(text: str, count: int, active: list[tuple[int, str]]) -> list[Note]:
    notes = []
    if "\r\n" in text:
        first = text.count("\n", 0, text.index("\r\n")) + 1
        notes.append(
            Note(first, "lines end in CR LF: the CR, which cron takes for a part of them, is dropped")
        )
    if active and active[-1][0] == count and not text.endswith("\n"):
        notes.append(Note(count, "no line feed ends the last line: it counts here, cron passes over it"))
    return notes


class _Reader:
    """What has been read so far, and what holds for the next line."""

    def __init__(self, format: Format, settings: Settings, names: Names) -> None:
        self._format, self._settings, self._names = format, settings, names
        self.entries: list[Entry] = []
        self.refusals: list[Refusal] = []
        self.notes: list[Note] = []
        self._refused_settings: dict[str, int] = {}

    def note(self, number: int, text: str) -> None:
        """Add a note."""
        self.notes.append(Note(number, text))

    def read(self, number: int, line: str) -> None:
        """Take one line in: a setting, an entry, or a refusal."""
        found = setting(line)
        try:
            check_line(line)
            if found is None:
                self._entry(number, line)
            else:
                self._set(number, *found)
        except Refused as refused:
            name = name_of_setting(line) if found is None else found[0]
            if name is not None:
                self._refused_settings[name] = number
            self.refusals.append(Refusal(number, cleaned(line, SHOWN_BYTES), refused.reason, refused.instead))

    def _set(self, number: int, name: str, value: str) -> None:
        for text in self._settings.put(name, value):
            self.note(number, text)
        self._refused_settings.pop(name, None)

    def _entry(self, number: int, line: str) -> None:
        expression, rest = times_and_rest(line)
        user, text = user_and_command(rest) if self._format == "system" else (None, rest)
        text, notes = without_options(text)
        command, stdin = command_and_input(text)
        self._check(expression)
        if line.startswith("-"):
            notes.append("the - before the times does nothing here: every run is in its job's history")
        if stdin is not None:
            notes.append("an unescaped % ends the command; what follows is its standard input, as in cron")
        for note in notes:
            self.note(number, note)
        name = self._names.give(user, command, stdin)
        environment, tz = self._settings.environment, self._settings.zone
        self.entries.append(Entry(number, name, expression, tz, command, stdin, user, environment))

    def _check(self, expression: str) -> None:
        """Raise Refused unless the times are ones that a schedule can have."""
        for name, number in self._refused_settings.items():
            raise Refused(
                f"the setting of {name[:40]} in line {number} was refused", "correct that line first"
            )
        if expression.lower() == "@reboot":
            raise Refused(
                "@reboot is no time: a schedule belongs to no machine that starts",
                "leave it to that machine, for instance to a systemd unit or its own cron",
            )
        if "~" in expression:
            raise Refused(
                "a ~ stands for a time that cron draws anew whenever it reads the file",
                "write a fixed time and give the schedule a jitter",
            )
        try:
            recurrence(expression, self._settings.zone)
        except InvalidInput as error:
            raise Refused(error.rule) from error
