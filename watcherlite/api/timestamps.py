"""Times as responses show them."""

import datetime
from typing import Protocol


class Stored(Protocol):
    """A stored object that can be deleted softly."""

    @property
    def created_at(self) -> datetime.datetime | None: ...

    @property
    def updated_at(self) -> datetime.datetime | None: ...

    @property
    def deleted_at(self) -> datetime.datetime | None: ...


def seconds(moment: datetime.datetime | None) -> str | None:
    """Return a time in UTC, to the second, as clients of Heat and Senlin read it."""
    return None if moment is None else _utc(moment).strftime('%Y-%m-%dT%H:%M:%SZ')


def epoch(moment: datetime.datetime | None) -> float | None:
    """Return a time as seconds since 1970, as clients of Senlin read it in actions."""
    return None if moment is None else round(moment.timestamp(), 6)


def offset(moment: datetime.datetime | None) -> str | None:
    """Return a time with its offset, as clients of Watcher read created_at."""
    return None if moment is None else _utc(moment).isoformat()


def naive(moment: datetime.datetime | None) -> str | None:
    """Return a time in UTC without offset.

    So clients of Watcher read next_run_time, start_time, end_time and last_seen_up.
    """
    return None if moment is None else _utc(moment).replace(tzinfo=None).isoformat()


def of(stored: Stored) -> dict[str, str | None]:
    """Return the three times that every detailed view of Watcher's API shows."""
    return {
        'created_at': offset(stored.created_at),
        'updated_at': offset(stored.updated_at),
        'deleted_at': offset(stored.deleted_at),
    }


def _utc(moment: datetime.datetime) -> datetime.datetime:
    return moment.astimezone(datetime.UTC)
