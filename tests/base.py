"""The base of all tests: a home directory and logs of their own, no network."""

import functools
import gc
import ipaddress
import logging
import os
import pathlib
import socket
from typing import Any

import fixtures
import hypothesis
import testtools
from testtools import content

# On a busy machine the first example, for which tables are made, takes seconds.
hypothesis.settings.register_profile(
    'tests', deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile('tests')
# A pool logs each connection that it hands out: megabytes a story.
for _pool in ('sqlalchemy.pool', 'watcherlite.db.sqlalchemy.memory'):
    logging.getLogger(_pool).setLevel(logging.WARNING)
#: Bytes kept of each end of an attachment to a report. A subunit packet holds 4 MiB;
#: a larger one ends the whole run and leaves no report at all.
KEPT = 2**19


class TestCase(testtools.TestCase):
    """A test that leaves nothing behind and depends on nothing of its user.

    * HOME and the XDG directories are empty and new (`self.home`), so that neither
      an ini file nor a database of the user is found.
    * No option comes from the environment.
    * What is logged is in `self.log.output`, and in the report of a failure.
    * A connection to another machine is an error. Servers on this one may be used
      by the tests whose folder says so, see tests/README.rst.
    """

    def setUp(self) -> None:
        super().setUp()
        configure_gc()
        # The first cleanup is the last to run, when all attachments are there.
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
        self.useFixture(OnlyThisMachine())

    def _shorten_attachments(self) -> None:
        details = self.getDetails()
        for name, detail in details.items():
            details[name] = shorten(detail)

    def _set(self, name: str, value: str | None) -> None:
        self.useFixture(fixtures.EnvironmentVariable(name, value))


@functools.cache
def configure_gc() -> None:
    """Have the garbage collector skip what was imported, and run less often.

    A run imports all tests. Compiling statements triggers it so often that searching
    those modules took a quarter of the time of the store's tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


def shorten(detail: content.Content) -> content.Content:
    """Return an attachment without its middle, if it is larger than a packet."""
    data = b''.join(detail.iter_bytes())
    if len(data) <= 2 * KEPT:
        return detail
    middle = f'\n[... {len(data) - 2 * KEPT} bytes left out ...]\n'.encode()
    kept = b''.join((data[:KEPT], middle, data[-KEPT:]))
    # A character may have been cut in two.
    kept = kept.decode(errors='replace').encode()
    return content.Content(detail.content_type, lambda: [kept])


class OnlyThisMachine(fixtures.Fixture):
    """Refuse connections to other machines, with a word on why."""

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


def _is_here(address: Any) -> bool:
    host = address[0]
    try:
        return ipaddress.ip_address(host.partition('%')[0]).is_loopback
    except ValueError:
        return host == 'localhost'
