"""Logs: one line per record on stderr, for people on a terminal, else JSON."""

import logging
import sys
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from .cli.terminal import is_terminal, printable

BEFORE: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure(level: int = logging.INFO) -> None:
    """Send what this process logs, through structlog or the standard library, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=BEFORE, processors=_rendering())
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for talkative in ("alembic", "uvicorn"):  # which tell each step, where we tell what comes of them
        logging.getLogger(talkative).setLevel(logging.WARNING)


def _rendering() -> list[Processor]:
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if is_terminal(sys.stderr):
        return [remove, _shown, structlog.dev.ConsoleRenderer(sort_keys=False)]
    return [remove, structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]


def _shown(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Escape what would command the terminal: log lines quote what jobs say."""
    return {name: _safe(value) for name, value in event.items()}


def _safe(value: Any) -> Any:
    return printable(value) if isinstance(value, str) else value
