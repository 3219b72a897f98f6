"""What the demo tells on the terminal: progress, summary, one job's history, the verdict."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import define, field
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from ...domain.event import ControlEvent, JobEvent


@define
class Story:
    """Writes to the terminal."""

    console: Console = field(factory=lambda: Console(highlight=False))
    _progress: Progress | None = None
    _bar: TaskID | None = None

    def tell(self, text: str) -> None:
        """Write one line above the progress bar."""
        self.console.print(text)

    @contextmanager
    def progress(self, jobs: int) -> Iterator[None]:
        """Show how many of the jobs are terminal."""
        columns = (TextColumn("jobs done"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self.console) as self._progress:
            self._bar = self._progress.add_task("jobs", total=jobs)
            yield

    def advance(self, done: int) -> None:
        """Move the bar."""
        if self._progress is not None and self._bar is not None:
            self._progress.update(self._bar, completed=done)

    def summary(self, figures: Mapping[str, Any]) -> None:
        """Print figures, one a row."""
        table = Table(title="Summary", show_header=False, title_justify="left")
        for name, value in figures.items():
            table.add_row(name, str(value))
        self.console.print(table)

    def history(self, title: str, events: Sequence[JobEvent], evidence: Sequence[ControlEvent]) -> None:
        """Print one job's events, and the refused reports beside them, in the order of their positions."""
        table = Table(
            "seq", "event", "state after", "attempt", "after", "by", title=title, title_justify="left"
        )
        began = events[0].at
        together: list[JobEvent | ControlEvent] = [*events, *evidence]
        for event in sorted(together, key=lambda event: event.position or 0):
            after = f"{(event.at - began).total_seconds():.3f} s"
            if isinstance(event, JobEvent):
                table.add_row(str(event.seq), event.name, event.state, str(event.attempt), after, event.actor)
            else:
                refused = f"{event.name}: {event.data.get('command')}"
                attempt = str(event.data.get("attempt"))
                table.add_row("–", refused, "unchanged", attempt, after, event.actor, style="red")
        self.console.print(table)
