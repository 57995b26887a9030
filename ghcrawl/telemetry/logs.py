"""Logs: structlog set up once, one line for every settled request."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Final, Literal, TextIO

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from ghcrawl.ports.observer import Call, Settled
from ghcrawl.telemetry.repeats import REPEATS

LogFormat = Literal["json", "console"]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]


def configure_logging(
    *, level: LogLevel, format: LogFormat, redact: Sequence[Processor] = (), stream: TextIO = sys.stderr
) -> None:
    """From now on, logs of ours and of the libraries go to `stream` in one format, each line redacted.

    redact: structlog processors that remove what must not be read; they run last before rendering.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendered: list[Processor] = [structlog.processors.format_exc_info, *redact, _renderer(format, stream)]
    structlog.configure(
        processors=[REPEATS.processor, *shared, *rendered],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.addFilter(REPEATS.filter)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendered],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(logging.WARNING, getattr(logging, level.upper())), force=True)


def _renderer(format: LogFormat, stream: TextIO) -> Processor:
    if format == "json":
        return structlog.processors.JSONRenderer()
    # A plain traceback: a rich one would show locals, after everything that redacts has run.
    return structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback)


def log_suppressed() -> None:
    """Log how many lines were left out, of each warning that repeated too often."""
    log = structlog.get_logger("ghcrawl")
    for event, lines in REPEATS.suppressed().items():
        log.warning("log_suppressed", of=event, lines=lines)


_LEVELS: Final = {"retry": logging.WARNING, "bury": logging.ERROR}


class SettledLog:
    """One INFO line for every settled request; what failed is a WARNING, what was buried an ERROR.

    Made after `configure_logging`: its level is decided once, so that a suppressed line costs nothing.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Logging was configured again."""
        self._log: FilteringBoundLogger = structlog.get_logger("ghcrawl").bind()

    def settled(self, settled: Settled) -> None:
        """Write the line."""
        level = _LEVELS.get(settled.outcome, logging.INFO)
        if not self._log.is_enabled_for(level):
            return
        self._log.log(
            level,
            "request_settled",
            outcome=settled.outcome,
            platform=settled.request.platform,
            type=settled.request.type,
            url=settled.request.url,
            queue=settled.queue,
            attempt=settled.request.attempt,
            fetch_ms=round(settled.fetch_s * 1000, 1),
            write_ms=round(settled.write_s * 1000, 1),
            pushed=settled.pushed.queued,
            **{name: getattr(settled, name) for name in ("reason", "cause", "detail") if getattr(settled, name)},
        )

    def called(self, call: Call) -> None:
        """Write a line at the level debug."""
        if not self._log.is_enabled_for(logging.DEBUG):
            return
        self._log.debug(
            "platform_called",
            status=call.status,
            principal=call.principal,
            remaining=call.remaining,
            seconds=round(call.seconds, 3),
        )
