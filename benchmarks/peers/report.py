"""Turn results into the tables of RESULTS.md: ``python report.py [FILE]``.

A cell is the median of the runs, with their range where there are several.
"""

import sys
from pathlib import Path

from results import LIST, Key, Row, load, middle, newest, values
from systems import FLOOR, SYSTEMS

OURS = "fencepost"
CLIENTS = 2  # of the floor that shares are taken of
NONE = "–"


class Results:
    """The newest rows, asked for by system, scenario and profile."""

    def __init__(self, rows: list[Row]) -> None:
        """Take all rows there are."""
        self.rows: dict[Key, list[Row]] = newest(rows)
        self.systems = [s for s in SYSTEMS if s != FLOOR and any(key[0] == s for key in self.rows)]

    def of(self, system: str, scenario: str, profile: str | None = None) -> list[Row]:
        """Return the runs of one measurement."""
        return self.rows.get((system, scenario, profile, None), [])

    def label(self, system: str) -> str:
        """Return a system's name and version, as far as they are known."""
        rows = [row for key, rows in self.rows.items() if key[0] == system for row in rows if "name" in row]
        row = max(rows, key=lambda row: "version" in row, default={})
        return f"{row.get('name', system)} {row.get('version', '')}".strip()

    def cell(
        self, system: str, scenario: str, field: str, form: str = ",.0f", profile: str | None = None
    ) -> str:
        """Return the median, and the range if it can be told apart."""
        rows = self.of(system, scenario, profile)
        return spread(values(rows, field), middle(rows, field), form)

    def ours(self, system: str, scenario: str, field: str, *, less_is_better: bool = False) -> str:
        """Return how many times as good Fencepost is."""
        pair = middle(self.of(OURS, scenario), field), middle(self.of(system, scenario), field)
        if pair[0] is None or not pair[1]:
            return NONE
        return f"{pair[1] / pair[0] if less_is_better else pair[0] / pair[1]:.2f}"

    def share(self, system: str, scenario: str) -> str:
        """Return the share of the floor with two clients."""
        floor = middle(self.rows.get((FLOOR, scenario, None, CLIENTS), []), "per_s")
        rate = middle(self.of(system, scenario), "per_s")
        return f"{rate / floor:.0%}" if rate and floor else NONE

    def again(self, system: str, profile: str) -> str:
        """Return how long it took until every job whose worker was killed ran again."""
        return ", ".join(_again(row) for row in self.of(system, "crash", profile)) or NONE


def spread(found: list[float], middle: float | None, form: str) -> str:
    """Write a median with its range."""
    if middle is None:
        return NONE
    least, most = format(min(found), form), format(max(found), form)
    return format(middle, form) if least == most else f"{middle:{form}} ({least}–{most})"


def _again(row: Row) -> str:
    if "skipped" in row:
        return "none"
    if "error" in row:
        return "failed"
    if row["all_s"] is None:
        return f"> {row['limit_s']:.0f} ({row['restarted']}/50)"
    return f"{row['all_s']:.1f}"


def table(head: list[str], lines: list[list[str]], align: str = "---:") -> str:
    """Write a table; ``align`` is that of every column but the first."""
    rule = ["---", *[align] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines)) + "\n"


def throughput(r: Results) -> str:
    """Write what goes in and out per second, and what it costs."""
    head = ["system", "enqueue jobs/s", "ours ÷ it", "of floor"]
    head += ["drain jobs/s", "ours ÷ it", "of floor", "worker CPU µs/job", "PostgreSQL CPU µs/job"]
    lines = []
    for s in r.systems:
        cpu = [_microseconds(r.of(s, "drain"), f"{who}_cpu_ms_per_job") for who in ("worker", "pg")]
        line = [r.label(s)]
        for scenario in ("enqueue", "drain"):
            line += [r.cell(s, scenario, "per_s"), r.ours(s, scenario, "per_s"), r.share(s, scenario)]
        lines.append([*line, *cpu])
    return table(head, [*lines, *_floors(r, len(head))])


def _microseconds(rows: list[Row], field: str) -> str:
    found = [value * 1000 for value in values(rows, field)]
    middle_ = middle(rows, field)
    return spread(found, None if middle_ is None else middle_ * 1000, ".0f")


def _floors(r: Results, width: int) -> list[list[str]]:
    lines = []
    for (system, scenario, _, clients), rows in sorted(r.rows.items(), key=str):
        if system == FLOOR and clients:
            cell = spread(values(rows, "per_s"), middle(rows, "per_s"), ",.0f")
            what = f"{rows[0]['batch']} a {'statement' if scenario == 'enqueue' else 'batch'}"
            line = [f"SQL floor, {clients} client{'s' * (clients > 1)}, {what}", *[NONE] * (width - 1)]
            line[1 if scenario == "enqueue" else 4] = cell
            lines.append(line)
    return lines


def moments(r: Results) -> str:
    """Write what happens when."""
    head = [
        "system",
        "latency p50 ms",
        "p95",
        "p99",
        "it ÷ ours, p50",
        "pinned first → last jobs/s",
        "last ÷ first",
    ]
    head += ["delayed p50 / p99 ms", "same, polling tuned", "crash, defaults s", "crash, quick s"]
    lines = []
    for s in r.systems:
        if not any(r.of(s, scenario) for scenario in ("latency", "pinned", "delayed")) and not r.of(
            s, "crash", "best"
        ):
            continue
        line = [r.label(s), *(r.cell(s, "latency", f"p{q}_ms", ".1f") for q in (50, 95, 99))]
        line += [r.ours(s, "latency", "p50_ms", less_is_better=True)]
        line += [" → ".join(r.cell(s, "pinned", f"{which}_per_s") for which in ("first", "last"))]
        line += [r.cell(s, "pinned", "ratio", ".2f")]
        line += [
            " / ".join(r.cell(s, "delayed", f"p{q}_ms", ",.0f", p) for q in (50, 99)) for p in (None, "poll")
        ]
        lines.append([*line, r.again(s, "best"), r.again(s, "quick")])
    return table(head, lines)


def settings(r: Results) -> str:
    """Write what each system ran with."""
    said = {s: row["settings"] for (s, *_), rows in r.rows.items() for row in rows if "settings" in row}
    return table(["system", "settings"], [[r.label(s), said.get(s, NONE)] for s in r.systems], "---")


def circumstances(r: Results) -> str:
    """Write on what, when, and under which load."""
    rows = [row for rows in r.rows.values() for row in rows]
    machines = sorted({row["machine"] for row in rows if "machine" in row})
    days = sorted({row["at"][:10] for row in rows if "at" in row})
    loads = sorted(row["load"] for row in rows if "load" in row)
    if not rows or not days:
        return "No results.\n"
    runs = max(map(len, r.rows.values()))
    return (
        f"{'; '.join(machines)}. Measured {' – '.join(dict.fromkeys((days[0], days[-1])))}, up to {runs} runs, "
        f"interleaved; the load average at the start of a measurement was {loads[0]:.1f} to {loads[-1]:.1f}.\n"
    )


def failures(r: Results) -> str:
    """Write what went wrong."""
    lines = [
        f"- {r.label(key[0])}, {key[1]} (run {row.get('run')}): {row['error'].splitlines()[0][:200]}"
        for key, rows in r.rows.items()
        for row in rows
        if "error" in row
    ]
    return "Failures:\n\n" + "\n".join(lines) + "\n" if lines else ""


def main() -> None:
    """Print all tables."""
    r = Results(load(Path(sys.argv[1]) if len(sys.argv) > 1 else LIST))
    parts = (circumstances, throughput, moments, settings, failures)
    print("\n".join(filter(None, (part(r) for part in parts))), end="")


if __name__ == "__main__":
    main()
