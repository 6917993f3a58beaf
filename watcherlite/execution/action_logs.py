"""The logs of running actions, from their plugins to the store.

Entries are collected for a moment, so that one transaction stores those of all actions.
The committer stores the entries of an action before its conclusion: the log of an ended
action is complete.
"""

import datetime
import logging
import threading
from collections.abc import Callable, Collection
from typing import Protocol

from watcherlite import exceptions
from watcherlite.conf import masking
from watcherlite.db.action_logs import LogEntry
from watcherlite.domain.actions import REPORTS, Action
from watcherlite.execution.services import CoreServices

LOG = logging.getLogger(__name__)

#: Seconds for which entries are collected.
INTERVAL = 0.5
#: Characters of one entry.
MAX_ENTRY = 16384
#: The role of the worker that deletes old entries, and the seconds between two purges.
PURGE_ROLE = 'action_logs'
PURGE_INTERVAL = 600.0
FULL = (
    'The log has reached its limit of {} bytes (option max_action_log); further output '
    'of this attempt is dropped.\n'
)
_MICROSECOND = datetime.timedelta(microseconds=1)


class LogSink(Protocol):
    """Takes the entries of attempts; see `ActionLogs`."""

    def limit(self) -> int:
        """Return the maximum number of bytes of an attempt."""

    def append(self, entry: LogEntry) -> None:
        """Store an entry soon; thread-safe, and does not block."""


class AttemptLog:
    """The log of one attempt: limits, masks and dates what its plugin reports."""

    __slots__ = ('_action', '_full', '_last', '_lock', '_now', '_sink', '_size')

    def __init__(
        self, action: Action, sink: LogSink, now: Callable[[], datetime.datetime]
    ) -> None:
        self._action = action
        self._sink = sink
        self._now = now
        # A plugin may log from several threads.
        self._lock = threading.Lock()
        self._size = 0
        self._full = False
        self._last: datetime.datetime | None = None

    def write(self, stream: str, text: str) -> None:
        """Append whole lines to a stream, with their credentials masked."""
        # Databases reject lone surrogates.
        text = masking.mask_text(text.encode(errors='replace').decode())
        with self._lock:
            if self._full or not text:
                return
            limit = self._sink.limit()
            self._size += len(text.encode())
            if self._size > limit:
                self._full = True
                if limit:
                    self._append(REPORTS, FULL.format(limit))
                return
            for begin in range(0, len(text), MAX_ENTRY):
                self._append(stream, text[begin : begin + MAX_ENTRY])

    def _append(self, stream: str, text: str) -> None:
        now = self._now()
        if self._last is not None and now <= self._last:
            now = self._last + _MICROSECOND
        self._last = now
        action = self._action
        self._sink.append(LogEntry(action.id, action.attempt, stream, text, now))


class ActionLogs:
    """The entries of one worker that are not stored yet; thread-safe.

    :param wake: called when entries are due
    """

    def __init__(self, services: CoreServices, wake: Callable[[], None]) -> None:
        self._store = services.store
        self._clock = services.clock
        self._settings = services.settings
        self._worker = services.worker_id
        self._timers = services.timers
        self._chores = services.chores
        self._wake = wake
        self._lock = threading.Lock()
        #: action id -> its entries, in the order in which they were appended
        self._pending: dict[int, list[LogEntry]] = {}
        self._due_at = 0.0

    def start(self) -> None:
        """Delete old entries periodically."""
        self._chores.every(PURGE_INTERVAL, self.purge)

    def limit(self) -> int:
        return self._settings.max_action_log

    def append(self, entry: LogEntry) -> None:
        with self._lock:
            is_first = not self._pending
            entries = self._pending.setdefault(entry.action_id, [])
            if entries and _can_merge(entries[-1], entry):
                last = entries[-1]
                entries[-1] = LogEntry(
                    last.action_id,
                    last.attempt,
                    last.stream,
                    last.text + entry.text,
                    last.logged_at,
                )
            else:
                entries.append(entry)
            if is_first:
                self._due_at = self._clock.monotonic() + INTERVAL
        if is_first:
            self._timers.after(INTERVAL, self._wake)

    def take(self, action_ids: Collection[int]) -> list[LogEntry]:
        """Remove and return all entries if they are due, or those of an action are.

        :param action_ids: the actions whose conclusions are stored next
        """
        # Most batches have no entries, and need no lock.
        if not self._pending:
            return []
        with self._lock:
            if self._clock.monotonic() < self._due_at and not any(
                action_id in self._pending for action_id in action_ids
            ):
                return []
            return self._take()

    def take_all(self) -> list[LogEntry]:
        """Remove and return all entries."""
        with self._lock:
            return self._take()

    def _take(self) -> list[LogEntry]:
        taken, self._pending = self._pending, {}
        return [entry for entries in taken.values() for entry in entries]

    def store(self, entries: list[LogEntry], unanswered: bool) -> None:
        """Store entries.

        :param unanswered: an earlier call raised StoreUnavailable, and may have
            taken effect
        """
        if unanswered and self._store.log_entry_exists(entries[0]):
            return
        self._store.insert_log_entries(entries)

    def purge(self) -> None:
        """Delete entries that are older than `action_log_retention`."""
        days = self._settings.action_log_retention
        if days and self._store.acquire_role(
            PURGE_ROLE, self._worker, 2 * PURGE_INTERVAL
        ):
            before = self._clock.now() - datetime.timedelta(days=days)
            try:
                count = self._store.purge_log_entries(before)
            except exceptions.StoreConflict as error:
                LOG.debug('The purge of action logs continues later: %s', error)
                return
            if count:
                LOG.info('Deleted %d old log entries of actions', count)


def _can_merge(last: LogEntry, entry: LogEntry) -> bool:
    """Return whether an entry continues the one before it."""
    return (
        last.stream == entry.stream
        and last.attempt == entry.attempt
        and len(last.text) + len(entry.text) <= MAX_ENTRY
        and last.text.endswith('\n')
    )
