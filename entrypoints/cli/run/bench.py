"""`fencepost bench`."""

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ....domain.errors import InvalidInput
from ...bench.plan import JOBS, SECONDS, planned
from ..exits import FAILED, INTERRUPTED, OK
from ..flags import PLAIN, Flags, Output
from ..terminal import say

if TYPE_CHECKING:
    from ...bench.run import Outcome


def bench(
    *,
    figures: Annotated[
        str | None, Parameter(help="Which of submit,drain,single,latency [all], with commas in between.")
    ] = None,
    jobs: Annotated[int, Parameter(help="Jobs that are submitted and drained.")] = JOBS,
    seconds: Annotated[
        int, Parameter(help="Time after which a figure is taken from what is done.")
    ] = SECONDS,
    json: Annotated[
        bool, Parameter(help="A line of JSON for each figure: --output ndjson.", negative="")
    ] = False,
    clean: Annotated[
        bool, Parameter(help="Only drop the schemas that killed runs left behind.", negative="")
    ] = False,
    flags: Flags = PLAIN,
) -> int:
    """Measure Fencepost on your database, in a schema of its own that is dropped at the end.

    Submits and runs jobs that do nothing, has their histories checked, and takes about half a minute. Nothing else in
    the database is read or changed. Where no database is named or runs here, a temporary one is started.
    """
    from ... import logs  # noqa: PLC0415 - --help needs none of it
    from ...bench.conditions import check_settings  # noqa: PLC0415
    from ...bench.run import Bench  # noqa: PLC0415
    from ...bench.where import database  # noqa: PLC0415
    from ...settings import load  # noqa: PLC0415

    plan, output = planned(figures, jobs, seconds), _output(json, flags)
    if flags.schema is not None:
        raise InvalidInput("schema", "must not be given: bench makes a schema of its own")
    logs.configure(logging.WARNING)
    if clean:
        return _clean(flags, output)
    check_settings(load(flags.settings), plan)
    verdicts: list[int] = []

    def ready(outcome: "Outcome") -> None:
        verdicts.append(_shown(outcome, output))

    with database(flags.settings, say) as dsn:
        done = Bench(dsn=dsn, plan=plan, tell=say, ready=ready).run()
    return verdicts[0] if done else INTERRUPTED


def _output(json: bool, flags: Flags) -> Output | None:
    if json and flags.output not in {None, "ndjson"}:
        raise InvalidInput("output", "must be ndjson, or left out, with --json")
    return "ndjson" if json else flags.output


def _clean(flags: Flags, output: Output | None) -> int:
    from ...bench.place import cleaned  # noqa: PLC0415 - as in bench
    from ...location import located  # noqa: PLC0415
    from ..output import emit_many  # noqa: PLC0415

    dropped, kept = asyncio.run(cleaned(located(flags.settings)[1]))
    say(f"dropped {len(dropped)} schemas that killed runs left behind")
    emit_many(output, [{"schema": schema, "dropped": True} for schema in dropped], ("schema", "dropped"))
    if kept:
        say(f"not dropped, as they belong to somebody else or are in use: {', '.join(kept)}")
    return FAILED if kept else OK


def _shown(outcome: "Outcome", output: Output | None) -> int:
    from ...bench.numbers import rounded  # noqa: PLC0415 - as in bench
    from ...bench.run import records  # noqa: PLC0415
    from ..output import Note, emit_many  # noqa: PLC0415

    notes = {figure.name: figure.note for figure in outcome.figures}
    cut = {figure.name for figure in outcome.figures if figure.cut}

    def note(record: Mapping[str, Any]) -> str:
        name = str(record["figure"])
        return notes[name] + (" (as far as it came in time)" if name in cut else "")

    emit_many(output, rounded(records(outcome)), ("figure", "value", "unit"), Note("measured", note))
    violations = sum(outcome.report.counts.values())
    say(f"checked the history of {outcome.report.jobs:,} jobs: {violations or 'no'} violations")
    for violation in outcome.report.violations[:10]:
        say(f"violated: {violation}")
    return FAILED if violations else OK
