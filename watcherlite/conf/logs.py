"""Logging: oslo.log with quiet libraries and masked credentials."""

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

from oslo_config import cfg
from oslo_log import _options, formatters, log

from watcherlite import exceptions
from watcherlite.conf import configuration, masking

#: Messages of the libraries below these levels are useful for their authors only; with
#: `debug` they would obscure those of watcherlite.
LOG_LEVELS = [
    'alembic=WARN',
    'amqp=WARN',
    'cliff=WARN',
    'cotyledon=WARN',
    'dogpile=WARN',
    'keystoneauth=WARN',
    'keystonemiddleware=WARN',
    'kombu=WARN',
    'oslo.db=WARN',
    'oslo_config=WARN',
    'oslo_db=WARN',
    'oslo_messaging=WARN',
    'oslo_policy=WARN',
    'oslo_service=WARN',
    'oslo_utils=WARN',
    'requests=WARN',
    'sqlalchemy=WARN',
    'stevedore=WARN',
    'urllib3=WARN',
]
#: The prefix of log lines about an action: oslo.log calls the resource of a context an
#: instance, and here it is always an action.
ACTION = '[action: %(uuid)s] '


#: Line breaks and control characters of terminals, and their replacements. Input of
#: clients may contain them, encoded in a path for instance.
_CONTROL = {
    code: chr(code).encode('unicode_escape').decode()
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
    if chr(code) != '\t'
}
_CONTROL_WITHIN_LINES = {
    code: text for code, text in _CONTROL.items() if chr(code) != '\n'
}


class MaskSecrets(logging.Filter):
    """Mask credentials in a record before a handler sees it.

    It never drops a record. Attributes of the record besides its text, such as request
    ids, are not changed.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the message, the traceback and the stack of the record."""
        try:
            text = record.getMessage()
        except Exception:
            # Arguments that do not match the message: logging will report that on
            # standard error and print them unformatted.
            record.msg = masking.mask_text(str(record.msg))
            record.args = (masking.mask_text(repr(record.args)),)
        else:
            masked = masking.mask_text(text)
            if masked != text:
                record.msg, record.args = masked, ()
        if record.exc_info and not record.exc_text:
            # Formatters use an existing text.
            text = _PLAIN.formatException(record.exc_info)
            masked = masking.mask_text(text)
            if masked != text:
                record.exc_text = masked
        elif record.exc_text:
            record.exc_text = masking.mask_text(record.exc_text)
        if record.stack_info:
            record.stack_info = masking.mask_text(record.stack_info)
        return True


class MaskingFormatter(logging.Formatter):
    """Mask the output of another formatter, and keep it on one line.

    Otherwise a client that sends a line break could forge log lines. Only tracebacks
    have several, each with the prefix of the first.

    The formatters of oslo.log write more than the record's text: the exception that is
    being handled, the context, and any `extra` data.
    """

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.formatter = formatter

    def format(self, record: logging.LogRecord) -> Any:
        """Return a text, or the data for a fluentd handler."""
        written = self.formatter.format(_in_one_line(record))
        if isinstance(self.formatter, formatters.JSONFormatter):
            # A mask may replace a quotation mark required by JSON.
            data = json.loads(written)
            masked = masking.mask_data(data)
            return written if masked == data else json.dumps(masked)
        masked = masking.mask_data(written)
        if isinstance(masked, str):
            # The lines are those of a traceback.
            return masked.translate(_CONTROL_WITHIN_LINES)
        return masked

    def formatException(self, ei: Any) -> str:
        """Return the text of an exception, for handlers that format it separately."""
        return masking.mask_text(self.formatter.formatException(ei))


def _in_one_line(record: logging.LogRecord) -> logging.LogRecord:
    """Return a record whose text has no control characters."""
    try:
        text = record.getMessage()
    except Exception:
        # Logging will report it.
        return record
    escaped = text.translate(_CONTROL)
    if escaped == text:
        return record
    found = copy.copy(record)
    # Without arguments percent signs are not interpreted.
    found.msg, found.args = escaped, ()
    return found


_PLAIN = logging.Formatter()


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of oslo.log, with our levels for the libraries."""
    log.register_options(conf)
    conf.set_default('default_log_levels', LOG_LEVELS)
    conf.set_default('instance_uuid_format', ACTION)
    # Before logging is set up, oslo.log writes to standard error.
    guard_handlers()


def set_defaults() -> None:
    """Set our defaults in the sample file; called by oslo-config-generator."""
    log.set_defaults(default_log_levels=LOG_LEVELS)
    cfg.set_defaults(_options.log_opts, instance_uuid_format=ACTION)


def setup_logging(
    conf: configuration.Configuration, product: str, version: str = 'unknown'
) -> None:
    """Configure logging by `conf`, with request ids and masked credentials.

    :param product: the name of the daemon or command, for the log lines
    :raises ConfigurationError: the file of `log_config_append` cannot be used, or a log
        file cannot be written
    """
    try:
        log.setup(conf, product, version)
    except log.LogConfigError as error:
        raise exceptions.ConfigurationError(
            f'[DEFAULT] log_config_append = {error.log_config} cannot be used: '
            f'{error.err_msg}'
        ) from None
    except OSError as error:
        raise exceptions.ConfigurationError(
            f'The log file {error.filename} cannot be written: {error.strerror}. '
            'Check [DEFAULT] log_file and log_dir.'
        ) from None
    guard_handlers()
    conf.after_reload(guard_handlers)


def guard_handlers() -> None:
    """Mask credentials in all existing handlers; idempotent."""
    for handler in _handlers():
        if not any(isinstance(f, MaskSecrets) for f in handler.filters):
            handler.addFilter(MaskSecrets())
        if not isinstance(handler.formatter, MaskingFormatter):
            handler.setFormatter(MaskingFormatter(handler.formatter or _PLAIN))


def _handlers() -> Iterator[logging.Handler]:
    root = logging.getLogger()
    yield from root.handlers
    for logger in list(root.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger):
            yield from logger.handlers
