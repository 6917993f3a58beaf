"""A subclass of ConfigOpts with one-line errors and safe reloads."""

import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.conf import validation


class Configuration(cfg.ConfigOpts):
    """A ConfigOpts that keeps its values when a reload finds an invalid one.

    Calls after a reload are made in the order of registration. oslo.config calls its
    own hooks in arbitrary order, and that of oslo.log may replace all log handlers, so
    guards of handlers must be registered later.
    """

    def __init__(self) -> None:
        super().__init__()
        self._after_reload: list[Callable[[], None]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Parse the command line and the files, as `ConfigOpts` does.

        :raises ConfigurationError: a file cannot be read, or a value is invalid
        :raises SystemExit: as argparse does, for `--help` and a bad command line
        """
        with _one_line():
            super().__call__(*args, **kwargs)
        found = validation.bad_values(self)
        if found:
            raise exceptions.ConfigurationError('; '.join(found))

    def after_reload(self, call: Callable[[], None]) -> None:
        """Call `call()` after every reload, including failed ones."""
        self._after_reload.append(call)

    def mutate_config_files(self) -> dict[Any, Any]:
        """Reread the files and apply mutable options.

        :returns: (group or None, option) -> (old value, new value)
        :raises ConfigurationError: a file cannot be read, or has an invalid value; no
            value is changed
        """
        try:
            with _one_line():
                # oslo.config applies new values without validating them.
                read = self._reload_config_files()
                found = validation.bad_values(self, read)
                # Validation has put some in its cache; registering nothing is the
                # public way to clear it.
                self.register_opts([])
                if found:
                    raise exceptions.ConfigurationError('; '.join(found))
                return super().mutate_config_files()
        finally:
            for call in self._after_reload:
                call()


@contextlib.contextmanager
def _one_line() -> Iterator[None]:
    """Convert the reaction of oslo.config to a bad file into a ConfigurationError.

    For an option that is also allowed on the command line it writes to standard error
    and exits, even if the value is from a file and the daemon is already running.
    """
    written = io.StringIO()
    try:
        with contextlib.redirect_stderr(written):
            yield
    except (cfg.Error, OSError, UnicodeDecodeError) as error:
        raise exceptions.ConfigurationError(validation.explain(error)) from None
    except SystemExit as stop:
        bad = re.fullmatch(r'argument --(\w+): (.*)\n', written.getvalue(), re.DOTALL)
        if stop.code != 1 or bad is None:
            sys.stderr.write(written.getvalue())
            raise
        raise exceptions.ConfigurationError(
            f'[DEFAULT] {bad[1]} is not valid: {" ".join(bad[2].split())}'
        ) from None
    sys.stderr.write(written.getvalue())
