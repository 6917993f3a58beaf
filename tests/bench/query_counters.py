"""Counters of statements, commits and messages of a process.

Statements are counted by an event listener of SQLAlchemy, messages by a bus that wraps
the real one. Counting costs time, so counted runs are not timed.
"""

import collections
import contextlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa

from watcherlite import bootstrap
from watcherlite.messaging.bus import Bus, NotificationPublisher

STATEMENTS = 'statements'
COMMITS = 'writing_commits'
READ_TRANSACTIONS = 'reading_transactions'
NOTIFICATIONS = 'notifications'
CONFIRM_WAITS = 'confirm_waits'
HINTS = 'hints'

_WORD = re.compile(r'\s*(\w+)')
_LOCKING = re.compile(r'\bFOR\s+(NO\s+KEY\s+)?UPDATE\b', re.IGNORECASE)
_WRITING = re.compile(r'\b(INSERT|UPDATE|DELETE|REPLACE|MERGE)\b', re.IGNORECASE)


def writes(statement: str) -> bool:
    """Return whether a statement or one of its CTEs changes rows."""
    return _WRITING.search(_LOCKING.sub('', statement)) is not None


class Counters:
    """The counts and the statement texts of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: collections.Counter[str] = collections.Counter()
        self._texts: collections.Counter[str] = collections.Counter()

    def attach(self) -> None:
        """Count the statements of all engines from now on."""
        sa.event.listen(sa.Engine, 'before_cursor_execute', self._on_execute)

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Count the statements of all engines within the block."""
        self.attach()
        try:
            yield
        finally:
            sa.event.remove(sa.Engine, 'before_cursor_execute', self._on_execute)

    def install(self, runtime: bootstrap.Runtime) -> None:
        """Count what a runtime does; call before it is started."""
        self.attach()
        runtime.bus = cast(Bus, CountingBus(runtime.bus, self))

    def add(self, name: str, count: int = 1) -> None:
        """Add to a count."""
        with self._lock:
            self._counts[name] += count

    def take(self) -> dict[str, Any]:
        """Return the counts since the last call, and reset them."""
        with self._lock:
            taken = {
                'counts': dict(self._counts),
                'texts': dict(self._texts.most_common()),
            }
            self._counts.clear()
            self._texts.clear()
        return taken

    def _on_execute(
        self,
        connection: sa.Connection,
        _cursor: Any,
        statement: str,
        _parameters: Any,
        _context: Any,
        _executemany: bool,
    ) -> None:
        self.record_statement(connection.info, statement)

    def record_statement(self, info: dict[Any, Any], statement: str) -> None:
        """Count a statement; BEGIN, COMMIT and ROLLBACK count as transactions.

        A statement outside a transaction counts as one transaction.

        :param info: the `info` dictionary of its connection
        """
        found = _WORD.match(statement)
        word = found[1].upper() if found else ''
        with self._lock:
            if word == 'BEGIN':
                info['bench_wrote'] = False
            elif word == 'COMMIT':
                wrote = info.pop('bench_wrote', False)
                self._counts[COMMITS if wrote else READ_TRANSACTIONS] += 1
            elif word == 'ROLLBACK':
                info.pop('bench_wrote', None)
            else:
                self._counts[STATEMENTS] += 1
                self._texts[' '.join(statement.split())[:100]] += 1
                if 'bench_wrote' in info:
                    info['bench_wrote'] = info['bench_wrote'] or writes(statement)
                elif writes(statement):
                    self._counts[COMMITS] += 1


class CountingBus:
    """Delegate to a `bus.Bus`, and count commands and broadcasts."""

    def __init__(self, bus: Bus, counters: Counters) -> None:
        self._bus = bus
        self._counters = counters

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    def send_command(self, lane: str, command: Mapping[str, Any]) -> None:
        self._counters.add(HINTS)
        self._bus.send_command(lane, command)

    def broadcast(self, message: Mapping[str, Any]) -> None:
        self._counters.add(HINTS)
        self._bus.broadcast(message)

    def notification_publisher(self) -> NotificationPublisher:
        publisher = self._bus.notification_publisher()
        return cast(
            NotificationPublisher, _CountingPublisher(publisher, self._counters)
        )


class _CountingPublisher:
    """Delegate to a `bus.NotificationPublisher`, and count notifications."""

    def __init__(self, publisher: NotificationPublisher, counters: Counters) -> None:
        self._publisher = publisher
        self._counters = counters

    def __getattr__(self, name: str) -> Any:
        return getattr(self._publisher, name)

    def publish(self, messages: Sequence[tuple[str, bytes]], timeout: float) -> None:
        self._publisher.publish(messages, timeout)
        self._counters.add(NOTIFICATIONS, len(messages))
        self._counters.add(CONFIRM_WAITS)
