"""`fencepost schedules import-crontab`."""

import re
import socket
import sys
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ....application.crontab.definitions import Terms
from ....application.crontab.found import Crontab
from ....application.crontab.importing import Importing, Plan, plan
from ....application.crontab.lines import FILE_CHARACTERS
from ....application.crontab.reading import read_crontab
from ....domain.errors import InvalidInput
from ....domain.submission import check_origin
from ....domain.values import check_name
from ..bulk import Assent
from ..exits import CONFLICT, FAILED, OK
from ..flags import PLAIN, Flags, Reason
from ..output import emit_many
from ..session import origin, session, user_name
from ..terminal import say
from .crontab_records import COLUMNS, WHAT, records, renames, summary, users
from .views import UTC_NAME

STDIN = "-"
LOCAL_TIME = Path("/etc/localtime")
PREFIX = "crontab/"
SLUG_MOST = 48
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


async def import_crontab(  # noqa: PLR0913 - an argument for each flag
    file: Annotated[
        str, Parameter(help="A crontab, such as /etc/crontab; - reads stdin.", allow_leading_hyphen=True)
    ],
    /,
    *,
    system: Annotated[
        bool,
        Parameter(help="Each line names a user before its command; else the file shows it.", negative=()),
    ] = False,
    user: Annotated[bool, Parameter(help="No line names a user.", negative=())] = False,
    prefix: Annotated[
        str | None, Parameter(help="How the schedules' names begin [crontab/ and the file's name].")
    ] = None,
    tz: Annotated[str | None, Parameter(help="The zone of times without a CRON_TZ above them [UTC].")] = None,
    queue: Annotated[
        str | None, Parameter(help="The queue of the jobs; a schedule that is there keeps its own.")
    ] = None,
    as_worker: Annotated[
        bool, Parameter(help="Run commands of any user as the worker's, whoever that is.", negative=())
    ] = False,
    take_over: Annotated[
        bool, Parameter(help="Have the schedules of another crontab where names are the same.", negative=())
    ] = False,
    prune: Annotated[
        bool,
        Parameter(
            help="Delete schedules of this crontab whose lines have vanished or have other names now.",
            negative=(),
        ),
    ] = False,
    dry_run: Annotated[bool, Parameter(help="Only show what was understood.", negative=())] = False,
    yes: Annotated[bool, Parameter(help="Do not ask.", negative=())] = False,
    reason: Reason = None,
    flags: Flags = PLAIN,
) -> int:
    """Turn the lines of a crontab into schedules of `shell.run` jobs; run it again when the file has changed.

    Such jobs run only on workers started with --allow-shell. The exit code is 1 when a line was refused, and 4 when a
    name belongs to a schedule from elsewhere: nothing is done then.
    """
    if system and user:
        raise InvalidInput("--system", "must not be given together with --user")
    form = "system" if system else "user" if user else "auto"
    source, name = _origin_of(file)
    start = f"{PREFIX}{name}/" if prefix is None else prefix
    crontab = read_crontab(_text(file), format=form, tz=tz or UTC_NAME, prefix=start)
    terms = Terms(
        source=source,
        user=user_name(),
        as_worker=as_worker,
        take_over=take_over,
        queue=None if queue is None else check_name("queue", queue),
    )
    if tz is None and (here := _zone_here()) is not None:
        say(f"times without a CRON_TZ are read as UTC; cron here reads them as {here}: --tz {here}")
    assent = Assent(dry_run=dry_run, yes=yes)
    return await _imported(crontab, terms, assent, prune=prune, reason=reason, flags=flags)


async def _imported(
    crontab: Crontab, terms: Terms, assent: Assent, *, prune: bool, reason: str | None, flags: Flags
) -> int:
    from ...location import NoDatabase  # noqa: PLC0415 - loads what --help must not wait for

    trail = origin(reason)
    check_origin(trail)
    try:
        async with session(flags) as container:
            importing = Importing(container.scheduling())
            found = await importing.compare(crontab, terms)
            _show(crontab, found, flags, prune=prune)
            if not found.clashes and _todo(crontab, found, prune=prune) and assent.given("go on?"):
                await importing.carry_out(found, trail, prune=prune)
                _tell(found, prune=prune)
    except NoDatabase:
        if not assent.dry_run:
            raise
        found = plan(crontab, terms, {})
        _show(crontab, found, flags, prune=prune)
        say("no database is named: the lines were compared with no schedules")
    if found.clashes:
        return CONFLICT
    return FAILED if found.refusals else OK


def _todo(crontab: Crontab, found: Plan, *, prune: bool) -> bool:
    """Tell whether there is anything to do; raises InvalidInput where it cannot be known what has vanished."""
    if not (prune and found.vanished):
        return bool(found.of("create") or found.of("change"))
    if crontab.refusals:
        raise InvalidInput(
            "--prune",
            "must wait until every line can be read: one that was refused may be what seems to have vanished",
        )
    return True


def _tell(found: Plan, *, prune: bool) -> None:
    created, changed = len(found.of("create")), len(found.of("change"))
    say(f"created {created}, changed {changed}, deleted {len(found.vanished) if prune else 0}")


def _show(crontab: Crontab, found: Plan, flags: Flags, *, prune: bool) -> None:
    emit_many(flags.output, records(found, datetime.now(UTC)), COLUMNS, WHAT)
    for note in crontab.notes:
        say(f"line {note.line}: {note.text}")
    for told in users(found):
        say(told)
    say(f"{crontab.format} crontab: {summary(found)}")
    if not prune:
        _warn(found)


def _warn(found: Plan) -> None:
    """Say of schedules that no line stands for how they would be deleted."""
    renamed = renames(found)
    if renamed:
        say(
            "schedules of another --prefix fire beside the new ones: delete them with --prune, or keep to that one"
        )
    if len(found.vanished) > renamed:
        say("vanished lines keep firing until they are deleted: --prune, or `fencepost schedules delete`")


def _origin_of(file: str) -> tuple[str, str]:
    """Return what a crontab is known by, the same at every import, and a part of a name made from it."""
    host, user = socket.gethostname(), user_name()
    if file == STDIN:
        return f"{host}:crontab of {user}", _slug(user)
    path = Path(file).resolve()
    return f"{host}:{path}", _slug(path.name)


def _zone_here() -> str | None:
    """Return the zone of this machine's clock, None when nobody knows it or when it is UTC."""
    _, _, name = str(LOCAL_TIME.resolve()).partition("/zoneinfo/")
    return None if name.rpartition("/")[2] in ("", "UTC", "UCT", "Universal", "Zulu") else name


def _slug(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-._")[:SLUG_MOST] or "file"


def _text(file: str) -> str:
    """Read a crontab; bytes that are not UTF-8 are kept for the reader to refuse their lines."""
    try:
        if file != STDIN:
            with Path(file).open(encoding="utf-8", errors="surrogateescape", newline="") as stream:
                return stream.read(FILE_CHARACTERS + 1)
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape", newline="")
        return sys.stdin.read(FILE_CHARACTERS + 1)
    except OSError as error:
        raise InvalidInput("FILE", f"cannot be read: {error.strerror}") from error
