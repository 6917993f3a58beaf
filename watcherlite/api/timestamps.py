"""Formats of times in requests and responses."""

import datetime
from typing import Protocol

from watcherlite import exceptions


class Stored(Protocol):
    """A stored object with soft deletion."""

    @property
    def created_at(self) -> datetime.datetime | None: ...

    @property
    def updated_at(self) -> datetime.datetime | None: ...

    @property
    def deleted_at(self) -> datetime.datetime | None: ...


def seconds(moment: datetime.datetime | None) -> str | None:
    """Return a time in UTC, in seconds: the format of Heat and Senlin."""
    return None if moment is None else _utc(moment).strftime('%Y-%m-%dT%H:%M:%SZ')


def epoch(moment: datetime.datetime | None) -> float | None:
    """Return a Unix time: the format of actions in Senlin."""
    return None if moment is None else round(moment.timestamp(), 6)


def offset(moment: datetime.datetime | None) -> str | None:
    """Return a time with its offset: the format of created_at in Watcher."""
    return None if moment is None else _utc(moment).isoformat()


def naive(moment: datetime.datetime | None) -> str | None:
    """Return a time in UTC without offset: the format of other times in Watcher."""
    return None if moment is None else _utc(moment).replace(tzinfo=None).isoformat()


def of(stored: Stored) -> dict[str, str | None]:
    """Return the three times of all detailed views in Watcher."""
    return {
        'created_at': offset(stored.created_at),
        'updated_at': offset(stored.updated_at),
        'deleted_at': offset(stored.deleted_at),
    }


def parse_time(name: str, text: str | None) -> datetime.datetime | None:
    """Return a parsed time: ISO 8601, in UTC unless it has an offset.

    :raises Invalid: the text is not a time
    """
    if text is None:
        return None
    try:
        time = datetime.datetime.fromisoformat(text)
        if time.tzinfo is None:
            time = time.replace(tzinfo=datetime.UTC)
        return time.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise exceptions.Invalid(
            f"Invalid input for field/attribute {name}. Value: '{text[:120]}'. It must "
            'be a time in ISO 8601, such as 2030-01-31T23:59:00'
        ) from None


def _utc(moment: datetime.datetime) -> datetime.datetime:
    return moment.astimezone(datetime.UTC)
