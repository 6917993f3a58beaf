"""What the daemons have in common: start, signals, drain, restart."""

import logging
import os
import sys
from collections.abc import Sequence

import cotyledon

from watcherlite import bootstrap, conf, exceptions
from watcherlite.plugins import loader

LOG = logging.getLogger(__name__)

#: Exit codes, as the operator's command has them.
BAD_CONFIGURATION = 2
UNAVAILABLE = 3
#: Of a worker process that lost its lease; the manager starts a new one.
LEASE_LOST = 75
#: Seconds between two tries to begin while the database is away.
RETRY = 2.0


class LaneService(cotyledon.Service):
    """One worker process.

    SIGTERM drains it, SIGHUP reloads the options that are mutable.
    """

    name = 'worker'

    def __init__(
        self,
        worker_id: cotyledon.types.WorkerId,
        configuration: conf.Configuration,
        plugins: loader.Plugins,
        lanes: Sequence[str],
    ) -> None:
        super().__init__(worker_id)
        self._conf = configuration
        self._plugins = plugins
        self._lanes = lanes
        self._runtime: bootstrap.Runtime | None = None

    def run(self) -> None:
        """Work until `terminate`; called in a thread."""
        self._runtime = bootstrap.build(
            self._conf, lanes=self._lanes, plugins=self._plugins, lost=_leave_at_once
        )
        self._runtime.start()

    def terminate(self) -> None:
        """Drain; the process ends when this returns."""
        if self._runtime is not None:
            self._runtime.stop()

    def reload(self) -> None:
        """Read the files again; a bad one changes nothing."""
        try:
            changed = self._conf.mutate_config_files()
        except exceptions.ConfigurationError as error:
            LOG.error('The configuration stays as it was: %s', error)
            return
        for (group, option), (old, new) in changed.items():
            LOG.info('[%s] %s was %s and is %s now', group, option, old, new)
        if self._runtime is not None:
            self._runtime.reload()


def _leave_at_once() -> None:
    """End this process: others own its actions now.

    Plugins that still run here cannot be stopped in any other way. The manager
    starts a new process, which is another worker.
    """
    logging.shutdown()
    os._exit(LEASE_LOST)


def main(product: str, lanes: Sequence[str], args: Sequence[str] | None = None) -> int:
    """Run a daemon until it is told to stop; return its exit code.

    :param product: the name of the command, for logs and `--help`
    """
    try:
        configuration = conf.new(sys.argv[1:] if args is None else args, prog=product)
        plugins = bootstrap.load_plugins(configuration)
        conf.setup_logging(configuration, product)
        bootstrap.check(configuration)
    except (exceptions.StoreUnavailable, exceptions.SchemaMismatch) as error:
        print(f'{product}: {error}', file=sys.stderr)
        return UNAVAILABLE
    except exceptions.WatcherliteError as error:
        print(f'{product}: {error}', file=sys.stderr)
        return BAD_CONFIGURATION
    manager = cotyledon.ServiceManager(
        graceful_shutdown_timeout=configuration.graceful_shutdown_timeout + 30
    )
    manager.add(
        LaneService,
        workers=configuration[lanes[0]].workers if len(lanes) == 1 else 1,
        args=(configuration, plugins, tuple(lanes)),
    )
    manager.run()
    return 0
