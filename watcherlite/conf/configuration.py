"""A ConfigOpts of our own, whose errors are one line and whose reload is safe."""

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
    """A ConfigOpts that keeps its values when a reload finds a bad one.

    Calls after a reload come in the order in which they were added. oslo.config
    calls its own hooks in no order, and the one of oslo.log may replace every log
    handler, so that what guards the handlers has to come later than all of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._after_reload: list[Callable[[], None]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Read the command line and the files, as `ConfigOpts` does.

        :raises ConfigurationError: a file cannot be read, or a value cannot work
        :raises SystemExit: as argparse does, for `--help` and a bad command line
        """
        with _one_line():
            super().__call__(*args, **kwargs)
        found = validation.bad_values(self)
        if found:
            raise exceptions.ConfigurationError('; '.join(found))

    def after_reload(self, call: Callable[[], None]) -> None:
        """Have `call()` made after every reload, one that failed included."""
        self._after_reload.append(call)

    def mutate_config_files(self) -> dict[Any, Any]:
        """Read the files again and apply the options that are mutable.

        :returns: (group or None, option) -> (old value, new value)
        :raises ConfigurationError: a file cannot be read any more, or has a
            value that cannot work; every value stays as it was
        """
        try:
            with _one_line():
                # oslo.config puts new values in force without a look at them.
                read = self._reload_config_files()
                found = validation.bad_values(self, read)
                # Looking at them has put some in its cache; registering nothing is
                # the public way to empty that.
                self.register_opts([])
                if found:
                    raise exceptions.ConfigurationError('; '.join(found))
                return super().mutate_config_files()
        finally:
            for call in self._after_reload:
                call()


@contextlib.contextmanager
def _one_line() -> Iterator[None]:
    """Turn whatever oslo.config does about a bad file into a ConfigurationError.

    For an option that may be on the command line too it writes to standard error
    and exits, even if the value is from a file and the daemon has long started.
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
