"""`watcherlite.wsgi:application`: the REST API under gunicorn, uwsgi or another server.

The application is built with the first request, when a server has forked its
processes: connections to the database must not be shared among them. It reads the
files of the usual search path, or those of the environment:

* OS_WATCHERLITE_CONFIG_FILES: ini files, separated by semicolons
* OS_WATCHERLITE_CONFIG_DIR: a directory of *.conf files
"""

import atexit
import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from watcherlite import bootstrap, conf, exceptions
from watcherlite.api import deploy
from watcherlite.api.errors import Environ, ErrorResponse, Wsgi, fault_of, respond
from watcherlite.api.settings import is_loopback
from watcherlite.cmd.application import application_of

LOG = logging.getLogger(__name__)

PRODUCT = 'watcherlite-api'
FILES = 'OS_WATCHERLITE_CONFIG_FILES'
DIRECTORY = 'OS_WATCHERLITE_CONFIG_DIR'
FROM_ELSEWHERE = (
    'auth_strategy is noauth: only this machine may use the API, unless [api] '
    'noauth_on_any_address is true'
)


class LazyApplication:
    """Builds the application when it is called first.

    :param build: returns it; raises WatcherliteError as long as it cannot
    """

    def __init__(self, build: Callable[[], Wsgi]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._application: Wsgi | None = None

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        application = self._application
        if application is None:
            try:
                application = self._load()
            except exceptions.WatcherliteError as error:
                LOG.critical('The API cannot be served: %s', error)
                return respond(environ, start_response, fault_of(error, ''))
        return application(environ, start_response)

    def _load(self) -> Wsgi:
        with self._lock:
            if self._application is None:
                self._application = self._build()
            return self._application


class LocalClientsOnly:
    """Rejects clients of other machines, since users are not authenticated.

    The application does not know the address on which its server listens.
    """

    def __init__(self, application: Wsgi) -> None:
        self._application = application

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        # A socket in the file system has clients without an address.
        client = environ.get('REMOTE_ADDR') or '127.0.0.1'
        if is_loopback(client):
            return self._application(environ, start_response)
        return respond(environ, start_response, ErrorResponse(403, FROM_ELSEWHERE))


def build(environ: Mapping[str, str] = os.environ) -> Wsgi:
    """Return the application that the configuration describes.

    :raises ConfigurationError, StoreUnavailable, SchemaMismatch: see the text
    """
    files = [name for name in environ.get(FILES, '').split(';') if name]
    directory = environ.get(DIRECTORY)
    configuration = conf.new(
        [], files or None, [directory] if directory else None, prog=PRODUCT
    )
    conf.setup_logging(configuration, PRODUCT)
    plugins = bootstrap.load_plugins(configuration)
    for line in conf.advisories(configuration):
        LOG.warning('%s', line)
    runtime = bootstrap.Runtime(configuration, lanes=(), plugins=plugins)
    try:
        # Otherwise clients would see no goals before the start of an engine.
        runtime.sync()
        services = deploy.services_of(runtime)
        application = application_of(runtime, services)
        deploy.wake_streams(runtime, services.streams)
    except BaseException:
        # The next request retries, with a runtime of its own.
        runtime.stop(0)
        raise
    atexit.register(runtime.stop, 0)
    if deploy.settings_of(configuration).is_local_only:
        return LocalClientsOnly(application)
    return application


application = LazyApplication(build)
