"""Logging of a command: records to the log files, warnings to the user."""

import logging
from collections.abc import Callable

from watcherlite import conf
from watcherlite.cmd import exits
from watcherlite.conf import logs

#: Options that configure a destination of the log.
_PLACES = ('log_config_append', 'log_dir', 'log_file', 'use_journal', 'use_syslog')


class Warnings(logging.Handler):
    """A handler that passes the messages of warnings to `show`, one line each.

    :ivar show: is replaced while live progress uses the terminal
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self.show = show

    def emit(self, record: logging.LogRecord) -> None:
        ours = record.name.startswith('watcherlite')
        if not ours and record.levelno < logging.ERROR:
            # Warnings of libraries are for developers.
            return
        try:
            level = record.levelname.lower()
            self.show(f'{level}: {exits.one_line(record.getMessage())}')
        except Exception:
            self.handleError(record)


def set_up(
    configuration: conf.Configuration, debug: bool, show: Callable[[str], None]
) -> Warnings:
    """Set up logging in this process.

    :param debug: log everything to standard error unless a file is configured
    :param show: receives the warnings if the log does not go to standard error
    """
    root = logging.getLogger()
    warnings = Warnings(show)
    has_place = any(configuration[name] for name in _PLACES)
    if not any(configuration[name] for name in ('log_dir', 'log_file', 'use_journal')):
        # Otherwise oslo.log uses standard output, which is for the results.
        configuration.set_override('use_stderr', True)
    if debug or has_place:
        conf.setup_logging(configuration, 'watcherlite')
    else:
        for handler in list(root.handlers):
            root.removeHandler(handler)
        root.setLevel(logging.WARNING)
    if not debug:
        root.addHandler(warnings)
        logs.guard_handlers()
    return warnings
