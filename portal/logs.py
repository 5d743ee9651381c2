"""Logging: one line per event, as JSON or for people. Text from outside cannot forge a line."""

import re
import traceback
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
TRACEBACKS = ("exception", "exc_info", "stack", "stack_info")  # generated here, never text from outside
SECRETS = re.compile(  # secrets in URLs that authorize actions
    r"(/accounts/(?:confirm-email|password/reset/key)/|/join/)[^/\s\"?]+"
)


def configuration(as_json: bool, level: str, colours: bool) -> dict[str, Any]:
    """Return the value of the setting LOGGING, which structlog's loggers use, too."""
    before: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso" if as_json else "%H:%M:%S", utc=as_json),
        without_secrets,
        on_one_line,
    ]
    structlog.configure(
        processors=[*before, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    # Both renderers leave out variables in tracebacks, since these may contain secrets.
    printed: list[Processor] = [structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=_traceback)]
    if as_json:
        printed = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": before,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *printed],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django": {"handlers": [], "propagate": True},
            "celery.app.trace": {"level": "WARNING"},  # jobs log their own results
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.worker.request": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            "fontTools": {"level": "WARNING"},  # otherwise it logs thirty lines for each embedded font
        },
    }


def on_one_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Escape control characters, so that text from outside cannot start a new line or color the terminal."""
    return {key: _escaped(value) if key not in TRACEBACKS else value for key, value in event.items()}


def without_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Remove keys from URLs."""
    event["event"] = SECRETS.sub(r"\1…", str(event["event"]))
    return event


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), value)
    return value


def _traceback(log: TextIO, error: ExcInfo) -> None:
    """Print a traceback with every line marked, so that quoted text cannot look like an event."""
    lines = "".join(traceback.format_exception(*error)).splitlines()
    log.write("\n".join(f"  | {_escaped(line)}" for line in lines))
