"""Logging of a command: records to the log files, warnings to the user."""

import logging
from collections.abc import Callable

from watcherlite import conf
from watcherlite.cmd import exits
from watcherlite.conf import logs

#: With one of these set, the log has a place of its own.
_PLACES = ('log_config_append', 'log_dir', 'log_file', 'use_journal', 'use_syslog')


class Warnings(logging.Handler):
    """Hands warnings to `show` as they are worded, one line each.

    :ivar show: may be replaced while the command goes on, when its progress has
        the terminal for itself
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self.show = show

    def emit(self, record: logging.LogRecord) -> None:
        ours = record.name.startswith('watcherlite')
        if not ours and record.levelno < logging.ERROR:
            # What libraries warn of is for their developers
            return
        try:
            level = record.levelname.lower()
            self.show(f'{level}: {exits.one_line(record.getMessage())}')
        except Exception:
            self.handleError(record)


def set_up(
    configuration: conf.Configuration, debug: bool, show: Callable[[str], None]
) -> Warnings:
    """Set up the log of this process.

    :param debug: log to standard error, in full, unless a file is configured
    :param show: takes the warnings if nothing else goes to standard error
    """
    root = logging.getLogger()
    warnings = Warnings(show)
    has_place = any(configuration[name] for name in _PLACES)
    if not any(configuration[name] for name in ('log_dir', 'log_file', 'use_journal')):
        # Else oslo.log takes standard output, which belongs to the results
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
