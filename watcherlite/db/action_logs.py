"""The logs of actions: what their plugins report while they run."""

import dataclasses
import datetime
from collections.abc import Sequence
from typing import Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class LogEntry:
    """One or more lines of a stream; the last one may lack its newline.

    :param attempt: of the action, which increases with each owner
    :param stream: one of `domain.actions.STREAMS`
    :param logged_at: time of the first line; increases within an attempt
    """

    action_id: int
    attempt: int
    stream: str
    text: str
    logged_at: datetime.datetime


@dataclasses.dataclass(frozen=True, slots=True)
class StoredLogEntry:
    """An entry in the database.

    :param sequence: increases within an action
    """

    sequence: int
    entry: LogEntry


class ActionLogStore(Protocol):
    """The methods of `db.api.Store` for the logs of actions.

    Entries do not lock their action, and a purge of the action deletes them.
    """

    def insert_log_entries(self, entries: Sequence[LogEntry]) -> None:
        """Insert entries, in one transaction."""

    def log_entry_exists(self, entry: LogEntry) -> bool:
        """Return whether an entry is stored.

        For callers that do not know whether `insert_log_entries` took effect.
        """

    def list_log_entries(
        self,
        action_ids: Sequence[int],
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
    ) -> list[StoredLogEntry]:
        """Return the entries of some actions by sequence number.

        :param after: the sequence number of the last known entry
        :param before: return the entries before this number instead, the latest first
        """

    def purge_log_entries(self, before: datetime.datetime) -> int:
        """Delete the entries logged before a time; return their number."""
