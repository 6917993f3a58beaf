"""What representations have in common."""

import datetime

#: A `state` that is shown and not stored: of what is deleted, softly.
DELETED = 'DELETED'


def time(moment: datetime.datetime | None) -> str | None:
    """Return a time with its offset: created_at, updated_at, deleted_at."""
    return None if moment is None else _utc(moment).isoformat()


def naive_time(moment: datetime.datetime | None) -> str | None:
    """Return a time in UTC without offset.

    So clients read next_run_time, start_time, end_time and last_seen_up.
    """
    return None if moment is None else _utc(moment).replace(tzinfo=None).isoformat()


def _utc(moment: datetime.datetime) -> datetime.datetime:
    return moment.astimezone(datetime.UTC)
