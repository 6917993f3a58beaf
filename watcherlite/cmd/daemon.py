"""The daemons: start, signals, graceful shutdown, reload."""

import contextlib
import gc
import io
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import cotyledon

from watcherlite import bootstrap, conf, exceptions
from watcherlite.cmd import arguments, exits
from watcherlite.plugins import loader

if TYPE_CHECKING:
    # Only daemons with an API import it.
    from watcherlite.cmd.api_server import Api, ApiServer, ErrorServer

LOG = logging.getLogger(__name__)

#: Exit code of a worker process that lost its lease; the manager replaces it.
LEASE_LOST = 75
#: Seconds between two attempts to start while the database is unavailable.
RETRY = 2.0
#: Maximum time in seconds to finish requests when a process stops.
ANSWERING = 10.0
#: Seconds after the drain after which a process is killed.
MARGIN = 30


#: The API and its socket; None: no API.
_Served: TypeAlias = 'tuple[Api, socket.socket] | None'


class Manager(cotyledon.ServiceManager):
    """The process that starts the workers and forwards signals to them."""

    def _on_signal_received(self, sig: int) -> None:
        # cotyledon kills all workers on SIGINT. Ctrl-C is a graceful stop here: the
        # outcome of running actions would be unknown otherwise.
        super()._on_signal_received(signal.SIGTERM if sig == signal.SIGINT else sig)


class DaemonService(cotyledon.Service):
    """A worker process: it serves lanes, the API, or both.

    SIGTERM drains it, SIGHUP reloads the mutable options.

    :param api: the API and its socket; None: no API
    """

    name = 'worker'

    def __init__(
        self,
        worker_id: cotyledon.types.WorkerId,
        configuration: conf.Configuration,
        plugins: loader.Plugins,
        lanes: Sequence[str],
        api: _Served,
    ) -> None:
        super().__init__(worker_id)
        # A terminal sends SIGINT to all processes; the manager handles it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._conf = configuration
        self._plugins = plugins
        self._lanes = lanes
        self._api = api
        self._runtime: bootstrap.Runtime | None = None
        self._server: ApiServer | None = None
        self._refusal: ErrorServer | None = None
        self._starting = threading.Lock()
        self._stopping = threading.Event()

    def run(self) -> None:
        """Start as soon as possible; called in a thread."""
        while not self._start():
            self._stopping.wait(RETRY)

    def _start(self) -> bool:
        """Start; return False if the database or the broker is unavailable."""
        with self._starting:
            if self._stopping.is_set():
                return True
            try:
                runtime = bootstrap.Runtime(
                    self._conf,
                    lanes=self._lanes,
                    plugins=self._plugins,
                    lost=_exit_at_once,
                )
                try:
                    if self._lanes:
                        # Actions of the replaced process would otherwise wait for the
                        # end of its lease.
                        runtime.expire_dead_workers()
                        runtime.start()
                    if self._api is not None:
                        api, listening = self._api
                        self._server = api.serve(listening, runtime)
                        self._stop_error_server()
                except exceptions.WatcherliteError:
                    runtime.stop(0)
                    raise
            except exceptions.WatcherliteError as error:
                LOG.error('%s; trying again in %g s', str(error).rstrip('.'), RETRY)
                self._serve_error(error)
                return False
            self._runtime = runtime
            # Further modules are loaded now.
            gc.freeze()
            return True

    def _serve_error(self, error: exceptions.WatcherliteError) -> None:
        """Answer 503 while the database is unavailable: no other process does."""
        away = isinstance(error, exceptions.StoreUnavailable)
        if self._api is None or self._refusal is not None or not away:
            return
        api, listening = self._api
        self._refusal = api.serve_error(listening, self._conf, error)

    def _stop_error_server(self) -> None:
        if self._refusal is not None:
            self._refusal.stop(ANSWERING)
            self._refusal = None

    def terminate(self) -> None:
        """Drain; the process ends when this returns."""
        self._stopping.set()
        seconds = self._conf.graceful_shutdown_timeout
        with self._starting:
            self._stop_error_server()
            if self._runtime is not None:
                LOG.info('Shutting down: running actions have %d s to finish', seconds)
                self._stop(self._runtime, seconds)

    def _stop(self, runtime: bootstrap.Runtime, seconds: float) -> None:
        """Finish requests while running actions end.

        A worker claims no more actions from now on; a process that only serves the API
        needs the runtime until its requests are finished.
        """
        if self._server is None:
            runtime.stop()
            return
        answering = threading.Thread(
            target=self._server.stop, args=(min(seconds, ANSWERING),)
        )
        answering.start()
        if not self._lanes:
            answering.join()
        runtime.stop()
        answering.join()

    def reload(self) -> None:
        """Reload the configuration files; invalid files change nothing."""
        if reload_options(self._conf) and self._runtime is not None:
            self._runtime.reload()


def reload_options(configuration: conf.Configuration) -> bool:
    """Reload the configuration files; log the changes and the problems.

    :returns: False if they are invalid; all options are unchanged then
    """
    try:
        changed = configuration.mutate_config_files()
    except exceptions.ConfigurationError as error:
        LOG.error('The configuration was not reloaded: %s', error)
        return False
    for line in conf.unknown_options(configuration) + conf.advisories(configuration):
        LOG.warning('%s', line)
    if not changed:
        LOG.info('The configuration was reloaded; no mutable option has changed')
    for (group, option), values in changed.items():
        # A private attribute; nothing public tells whether an option is secret.
        info = configuration._get_opt_info(option.replace('-', '_'), group)
        old, new = ('***' if info['opt'].secret else value for value in values)
        LOG.info('[%s] %s changed from %s to %s', group or 'DEFAULT', option, old, new)
    return True


def _exit_at_once() -> None:
    """End this process: other workers own its actions now.

    Running plugins cannot be stopped in any other way. The manager starts a new
    process, with a new worker.
    """
    logging.shutdown()
    os._exit(LEASE_LOST)


def _configuration(product: str, args: Sequence[str]) -> conf.Configuration:
    """Return the configuration; raises UsageError."""
    written = io.StringIO()
    try:
        with contextlib.redirect_stderr(written):
            return conf.new(args, prog=product)
    except SystemExit as stop:
        if stop.code != exits.BAD_INPUT:
            raise
        # argparse has printed its usage and the reason.
        reason = written.getvalue().rpartition(': error: ')[2].strip()
        written = io.StringIO()
        raise exits.UsageError(arguments.usage(product, reason)) from None
    finally:
        sys.stderr.write(written.getvalue())


def _reload(configuration: conf.Configuration) -> None:
    """Reload the options of the manager; the workers log the problems."""
    with contextlib.suppress(exceptions.ConfigurationError):
        configuration.mutate_config_files()


def main(
    product: str,
    lanes: Sequence[str],
    args: Sequence[str] | None = None,
    *,
    api: 'Api | None' = None,
) -> int:
    """Run a daemon until it is stopped; return its exit code, see `exits`.

    :param product: the name of the command, for logs and --help
    :param lanes: the lanes to serve; empty: it executes no actions
    :param api: the API to serve; None: no API
    """
    served: _Served = None
    try:
        configuration = _configuration(product, sys.argv[1:] if args is None else args)
        # First: loading plugins logs their errors.
        conf.setup_logging(configuration, product)
        plugins = bootstrap.load_plugins(configuration)
        bootstrap.check(configuration)
        for line in conf.advisories(configuration):
            LOG.warning('%s', line)
        if api is not None:
            # The processes share the socket, so the port cannot be in use for one of
            # them.
            served = api, api.listen(configuration)
    except exceptions.WatcherliteError as error:
        print(exits.explain(product, error), file=sys.stderr)
        return exits.code_of(error)
    _run(configuration, plugins, tuple(lanes), served)
    return exits.SUCCESS


def _run(
    configuration: conf.Configuration,
    plugins: loader.Plugins,
    lanes: tuple[str, ...],
    served: _Served,
) -> None:
    """Run the worker processes until the daemon is stopped."""
    manager = Manager(
        graceful_shutdown_timeout=configuration.graceful_shutdown_timeout + MARGIN
    )
    # A replacement of a worker inherits the options of this process.
    manager.register_hooks(on_reload=lambda: _reload(configuration))
    manager.add(
        DaemonService,
        workers=_processes(configuration, lanes),
        args=(configuration, plugins, lanes, served),
    )
    # A full collection writes to every object it visits and so copies the pages that a
    # worker shares with this process. Frozen objects are not visited.
    gc.freeze()
    bootstrap.limit_garbage_collection()
    manager.run()


def _processes(configuration: conf.Configuration, lanes: Sequence[str]) -> int:
    """Return the number of processes for these lanes, or for the API alone."""
    if len(lanes) > 1:
        return 1
    return int(configuration[lanes[0] if lanes else 'api'].workers)
