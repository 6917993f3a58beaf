"""Logs: oslo.log, quiet about the libraries and silent about credentials."""

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

from oslo_config import cfg
from oslo_log import _options, formatters, log

from watcherlite import exceptions
from watcherlite.conf import configuration, masking

#: What the libraries log below these levels is of use to their authors only; with
#: `debug` on, it would hide what watcherlite has to say.
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
#: What stands before the text of a line about an action: what oslo.log calls an
#: instance is the resource of a context, and here that is always one.
ACTION = '[action: %(uuid)s] '


#: Characters that end a line of a log, or that a terminal obeys, and how they are
#: written instead. What clients send may have them, encoded in a path for instance.
_CONTROL = {
    code: chr(code).encode('unicode_escape').decode()
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
    if chr(code) != '\t'
}
_CONTROL_WITHIN_LINES = {
    code: text for code, text in _CONTROL.items() if chr(code) != '\n'
}


class MaskSecrets(logging.Filter):
    """Take credentials out of a record before a handler sees it.

    It never refuses a record. What the record carries beside its text, request
    ids for instance, stays as it is.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the message, the traceback and the stack of the record."""
        try:
            text = record.getMessage()
        except Exception:
            # Arguments that do not fit the message: logging will say so on
            # standard error and print them as they are.
            record.msg = masking.mask_text(str(record.msg))
            record.args = (masking.mask_text(repr(record.args)),)
        else:
            masked = masking.mask_text(text)
            if masked != text:
                record.msg, record.args = masked, ()
        if record.exc_info and not record.exc_text:
            # Formatters take a text that is there already.
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
    """Mask what another formatter makes of a record, and have its text be one line.

    Else whoever sends a line break could write lines into the log. Only tracebacks
    have several, each with what stands before the first.

    The formatters of oslo.log write more than the record's text: the exception
    that is being handled, the context, and any `extra` data.
    """

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.formatter = formatter

    def format(self, record: logging.LogRecord) -> Any:
        """Return a text, or the data that a handler for fluentd expects."""
        written = self.formatter.format(_in_one_line(record))
        if isinstance(self.formatter, formatters.JSONFormatter):
            # A mask may cover a quotation mark that JSON needs.
            data = json.loads(written)
            masked = masking.mask_data(data)
            return written if masked == data else json.dumps(masked)
        masked = masking.mask_data(written)
        if isinstance(masked, str):
            # The lines are those of a traceback.
            return masked.translate(_CONTROL_WITHIN_LINES)
        return masked

    def formatException(self, ei: Any) -> str:
        """Return the text of an exception, for handlers that ask for it alone."""
        return masking.mask_text(self.formatter.formatException(ei))


def _in_one_line(record: logging.LogRecord) -> logging.LogRecord:
    """Return a record whose text has no control characters."""
    try:
        text = record.getMessage()
    except Exception:
        # Logging will say so itself.
        return record
    escaped = text.translate(_CONTROL)
    if escaped == text:
        return record
    found = copy.copy(record)
    # Percent signs are not looked at where there are no arguments.
    found.msg, found.args = escaped, ()
    return found


_PLAIN = logging.Formatter()


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of oslo.log, with our levels for the libraries."""
    log.register_options(conf)
    conf.set_default('default_log_levels', LOG_LEVELS)
    conf.set_default('instance_uuid_format', ACTION)
    # Before the logs are set up, oslo.log has them go to standard error.
    guard_handlers()


def set_defaults() -> None:
    """Put our defaults into the sample file; oslo-config-generator calls this."""
    log.set_defaults(default_log_levels=LOG_LEVELS)
    cfg.set_defaults(_options.log_opts, instance_uuid_format=ACTION)


def setup_logging(
    conf: configuration.Configuration, product: str, version: str = 'unknown'
) -> None:
    """Send logs where `conf` says, with request ids and without credentials.

    :param product: the name of the daemon or command, for the log lines
    :raises ConfigurationError: the file of `log_config_append` cannot be used, or
        a log file cannot be written
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
            'Look at [DEFAULT] log_file and log_dir.'
        ) from None
    guard_handlers()
    conf.after_reload(guard_handlers)


def guard_handlers() -> None:
    """Have every handler that there is mask credentials; again changes nothing."""
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
