"""The daemons: start, signals, graceful shutdown, reload."""

import contextlib
import io
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import Protocol

import cotyledon
from oslo_config import cfg

from watcherlite import bootstrap, conf, exceptions
from watcherlite.cmd import arguments, exits
from watcherlite.plugins import loader

LOG = logging.getLogger(__name__)

#: Of a worker process that lost its lease; the manager starts a new one.
LEASE_LOST = 75
#: Seconds between two tries to begin while the database is away.
RETRY = 2.0
#: Seconds that requests get at most to be answered when a process stops.
ANSWERING = 10.0
#: Seconds beyond the drain after which a process that does not end is ended.
MARGIN = 30


class Manager(cotyledon.ServiceManager):
    """The process that starts the workers and passes signals on to them."""

    def _on_signal_received(self, sig: int) -> None:
        # To cotyledon SIGINT means to drop everything at once. Who presses Ctrl-C
        # wants the daemon to end, and not that nobody knows what became of an action.
        super()._on_signal_received(signal.SIGTERM if sig == signal.SIGINT else sig)


class Server(Protocol):
    """What serves the API in a process."""

    def stop(self, timeout: float) -> bool:
        """Let requests be answered, but not longer than these seconds."""


class ApiFactory(Protocol):
    """`cmd.api_server.Api`; a daemon that serves no API need not load it."""

    def listen(self, conf: cfg.ConfigOpts) -> socket.socket:
        """Return the socket to serve on; raises ConfigurationError."""

    def serve(self, listening: socket.socket, runtime: bootstrap.Runtime) -> Server:
        """Serve, and return what stops it; raises StoreUnavailable."""

    def refuse(
        self,
        listening: socket.socket,
        conf: cfg.ConfigOpts,
        error: exceptions.WatcherliteError,
    ) -> Server:
        """Answer every request with an error, and return what stops that."""


class DaemonService(cotyledon.Service):
    """One worker process: it serves lanes, the API, or both.

    SIGTERM drains it, SIGHUP reloads the options that are mutable.

    :param api: what serves the API, and on what; None: it is not served
    """

    name = 'worker'

    def __init__(
        self,
        worker_id: cotyledon.types.WorkerId,
        configuration: conf.Configuration,
        plugins: loader.Plugins,
        lanes: Sequence[str],
        api: tuple[ApiFactory, socket.socket] | None,
    ) -> None:
        super().__init__(worker_id)
        # A terminal sends it to all; the manager says what it means.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._conf = configuration
        self._plugins = plugins
        self._lanes = lanes
        self._api = api
        self._runtime: bootstrap.Runtime | None = None
        self._server: Server | None = None
        self._refusal: Server | None = None
        self._starting = threading.Lock()
        self._stopping = threading.Event()

    def run(self) -> None:
        """Begin to work as soon as that is possible; called in a thread."""
        while not self._begin():
            self._stopping.wait(RETRY)

    def _begin(self) -> bool:
        """Begin; False if the database, for example, is away."""
        with self._starting:
            if self._stopping.is_set():
                return True
            try:
                runtime = bootstrap.build(
                    self._conf,
                    lanes=self._lanes,
                    plugins=self._plugins,
                    lost=_leave_at_once,
                )
                try:
                    if self._lanes:
                        # What ran in the process whose place this one takes would
                        # else wait until its lease has run out.
                        runtime.expire_dead_workers()
                        runtime.start()
                    if self._api is not None:
                        api, listening = self._api
                        self._server = api.serve(listening, runtime)
                        self._end_refusal()
                except exceptions.WatcherliteError:
                    runtime.stop(0)
                    raise
            except exceptions.WatcherliteError as error:
                LOG.error('%s; trying again in %g s', str(error).rstrip('.'), RETRY)
                self._refuse(error)
                return False
            self._runtime = runtime
            return True

    def _refuse(self, error: exceptions.WatcherliteError) -> None:
        """Answer 503 as long as the database is away: nobody else takes requests."""
        away = isinstance(error, exceptions.StoreUnavailable)
        if self._api is None or self._refusal is not None or not away:
            return
        api, listening = self._api
        self._refusal = api.refuse(listening, self._conf, error)

    def _end_refusal(self) -> None:
        if self._refusal is not None:
            self._refusal.stop(ANSWERING)
            self._refusal = None

    def terminate(self) -> None:
        """Drain; the process ends when this returns."""
        self._stopping.set()
        seconds = self._conf.graceful_shutdown_timeout
        with self._starting:
            self._end_refusal()
            if self._runtime is not None:
                LOG.info('Shutting down: running actions have %d s to finish', seconds)
                self._stop(self._runtime, seconds)

    def _stop(self, runtime: bootstrap.Runtime, seconds: float) -> None:
        """Let requests be answered while actions end.

        A worker takes nothing more from now on, however long requests take; what only
        answers requests needs the runtime until they are answered.
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
        """Read the files again; a bad one changes nothing."""
        if reload_options(self._conf) and self._runtime is not None:
            self._runtime.reload()


def reload_options(configuration: conf.Configuration) -> bool:
    """Read the files again, and log what has changed and what is wrong with them.

    :returns: False if they cannot be used; then every option stays as it was
    """
    try:
        changed = configuration.mutate_config_files()
    except exceptions.ConfigurationError as error:
        LOG.error('The configuration was not reloaded: %s', error)
        return False
    for line in conf.unknown_options(configuration) + conf.advisories(configuration):
        LOG.warning('%s', line)
    if not changed:
        LOG.info(
            'The configuration was read again; no option that a reload applies has '
            'changed'
        )
    for (group, option), values in changed.items():
        # Not public, and the only way to learn that a value is a password.
        info = configuration._get_opt_info(option.replace('-', '_'), group)
        old, new = ('***' if info['opt'].secret else value for value in values)
        LOG.info('[%s] %s was %s and is %s now', group or 'DEFAULT', option, old, new)
    return True


def _leave_at_once() -> None:
    """End this process: others own its actions now.

    Plugins that still run here cannot be stopped in any other way. The manager
    starts a new process, which is another worker.
    """
    logging.shutdown()
    os._exit(LEASE_LOST)


def _configuration(product: str, args: Sequence[str]) -> conf.Configuration:
    """Return the configuration; raises UsageError for a bad command line."""
    written = io.StringIO()
    try:
        with contextlib.redirect_stderr(written):
            return conf.new(args, prog=product)
    except SystemExit as stop:
        if stop.code != exits.BAD_INPUT:
            raise
        # argparse has written its usage, several lines of it, and then the reason.
        reason = written.getvalue().rpartition(': error: ')[2].strip()
        written = io.StringIO()
        raise exits.UsageError(arguments.usage(product, reason)) from None
    finally:
        sys.stderr.write(written.getvalue())


def _reload(configuration: conf.Configuration) -> None:
    """Reload the options of the manager; its workers tell what is wrong with them."""
    with contextlib.suppress(exceptions.ConfigurationError):
        configuration.mutate_config_files()


def main(
    product: str,
    lanes: Sequence[str],
    args: Sequence[str] | None = None,
    *,
    api: ApiFactory | None = None,
) -> int:
    """Run a daemon until it is told to stop; return its exit code, see `exits`.

    :param product: the name of the command, for logs and `--help`
    :param lanes: none: it executes nothing
    :param api: what serves the API, if it is to be served
    """
    served: tuple[ApiFactory, socket.socket] | None = None
    try:
        configuration = _configuration(product, sys.argv[1:] if args is None else args)
        # First of all: the log tells of plugins that cannot be used.
        conf.setup_logging(configuration, product)
        plugins = bootstrap.load_plugins(configuration)
        bootstrap.check(configuration)
        for line in conf.advisories(configuration):
            LOG.warning('%s', line)
        if api is not None:
            # The processes share the socket: none of them can find the port taken.
            served = api, api.listen(configuration)
    except exceptions.WatcherliteError as error:
        print(exits.explain(product, error), file=sys.stderr)
        return exits.code_of(error)
    manager = Manager(
        graceful_shutdown_timeout=configuration.graceful_shutdown_timeout + MARGIN
    )
    # A worker that takes the place of another one has the options of this process.
    manager.register_hooks(on_reload=lambda: _reload(configuration))
    manager.add(
        DaemonService,
        workers=_processes(configuration, lanes),
        args=(configuration, plugins, tuple(lanes), served),
    )
    manager.run()
    return exits.SUCCESS


def _processes(configuration: conf.Configuration, lanes: Sequence[str]) -> int:
    """Return how many processes serve these lanes, or the API if there are none."""
    if len(lanes) > 1:
        return 1
    return int(configuration[lanes[0] if lanes else 'api'].workers)
