"""The base of all tests: an empty home directory, captured logs, no network."""

import functools
import gc
import ipaddress
import logging
import os
import pathlib
import socket
import threading
from typing import Any

import fixtures
import testtools
from testtools import content

# The plugins of other packages import pytest and trio, which no test uses.
os.environ['HYPOTHESIS_NO_PLUGINS'] = '1'
import hypothesis
from hypothesis.internal.conjecture import providers

# hypothesis would parse all modules of the tests for constants, 2 s in each process.
providers._get_local_constants = providers.Constants
# Scanning the modules for garbage takes a fifth of the time of their import. The first
# test enables the collector.
gc.disable()
# On a busy machine the first example takes seconds, because it builds tables. The usual
# 100 examples would take twice the time.
hypothesis.settings.register_profile(
    'tests',
    deadline=None,
    max_examples=50,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile('tests')
# A pool logs each connection that it hands out, and stevedore each entry point that it
# finds: megabytes per test.
for _logger in (
    'sqlalchemy.pool',
    'stevedore.extension',
    'watcherlite.db.sqlalchemy.memory',
):
    logging.getLogger(_logger).setLevel(logging.WARNING)
#: The bytes kept of each end of an attachment. A subunit packet holds 4 MiB; a larger
#: one aborts the whole run and leaves no report.
KEPT = 2**19


class TestCase(testtools.TestCase):
    """A test that leaves nothing behind and does not depend on its user.

    * HOME and the XDG directories are empty and new (`self.home`), so that no ini
      file and no database of the user is found.
    * No option comes from the environment.
    * Log messages are in `self.log.output`, and in the report of a failure.
    * A connection to another machine is an error. The tests of some folders may use
      local servers, see tests/README.rst.
    * Starting a thread is an error in modules of tests.unit.
    """

    def setUp(self) -> None:
        super().setUp()
        configure_gc()
        # Registered first, so executed last, when all attachments exist.
        self.addCleanup(self._shorten_attachments)
        self.home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME'):
            self._set(name, str(self.home))
        for name in os.environ:
            if name.startswith('OS_') or name.lower().endswith('_proxy'):
                self._set(name, None)
        self.log = self.useFixture(
            fixtures.FakeLogger(level=logging.DEBUG, nuke_handlers=True)
        )
        self.useFixture(LoopbackOnly())
        if type(self).__module__.startswith('tests.unit.'):
            self.useFixture(NoThreads())

    def _shorten_attachments(self) -> None:
        details = self.getDetails()
        for name, detail in details.items():
            details[name] = shorten(detail)

    def _set(self, name: str, value: str | None) -> None:
        self.useFixture(fixtures.EnvironmentVariable(name, value))


@functools.cache
def configure_gc() -> None:
    """Enable garbage collection, for new objects only, and run it less often.

    A test process imports all tests. Compiling statements triggers collections so often
    that scanning those modules took a quarter of the time of the store's tests.
    """
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


def shorten(detail: content.Content) -> content.Content:
    """Return an attachment without its middle, if it is larger than a packet."""
    data = b''.join(detail.iter_bytes())
    if len(data) <= 2 * KEPT:
        return detail
    middle = f'\n[... {len(data) - 2 * KEPT} bytes left out ...]\n'.encode()
    kept = b''.join((data[:KEPT], middle, data[-KEPT:]))
    # The cut may have split a character.
    kept = kept.decode(errors='replace').encode()
    return content.Content(detail.content_type, lambda: [kept])


class LoopbackOnly(fixtures.Fixture):
    """Rejects connections to other machines with an explanation."""

    def _setUp(self) -> None:
        self._connect = socket.socket.connect
        self.useFixture(fixtures.MonkeyPatch('socket.socket.connect', self._guarded()))

    def _guarded(self) -> Any:
        connect = self._connect

        def guarded(sock: socket.socket, address: Any) -> None:
            if sock.family != socket.AF_UNIX and not _is_here(address):
                raise AssertionError(
                    f'A test tried to connect to {address}. Tests may only talk to '
                    'servers on this machine.'
                )
            connect(sock, address)

        return guarded


class NoThreads(fixtures.Fixture):
    """Rejects the start of a thread with an explanation."""

    def _setUp(self) -> None:
        self.useFixture(fixtures.MonkeyPatch('threading.Thread.start', _refuse_start))


def _refuse_start(thread: threading.Thread) -> None:
    raise AssertionError(
        f'A unit test tried to start the thread {thread.name}. Tests that need threads '
        'belong to tests/functional.'
    )


def _is_here(address: Any) -> bool:
    host = address[0]
    try:
        return ipaddress.ip_address(host.partition('%')[0]).is_loopback
    except ValueError:
        return host == 'localhost'
