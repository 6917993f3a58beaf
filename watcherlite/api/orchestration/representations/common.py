"""What representations have in common."""

import datetime


def time(moment: datetime.datetime | None) -> str | None:
    """Return a time in UTC, to the second, as clients read it."""
    if moment is None:
        return None
    return moment.astimezone(datetime.UTC).strftime('%Y-%m-%dT%H:%M:%SZ')
