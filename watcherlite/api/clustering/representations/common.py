"""What representations have in common."""

import datetime
from typing import Any

from watcherlite.domain.clusters import Owner


def time(moment: datetime.datetime | None) -> str | None:
    """Return a time in UTC, to the second, as clients read it."""
    if moment is None:
        return None
    return moment.astimezone(datetime.UTC).strftime('%Y-%m-%dT%H:%M:%SZ')


def epoch(moment: datetime.datetime | None) -> float | None:
    """Return a time as seconds since 1970, as clients read those of actions."""
    return None if moment is None else round(moment.timestamp(), 6)


def owned(owner: Owner) -> dict[str, Any]:
    """Return whose something is."""
    return {'user': owner.user, 'project': owner.tenant, 'domain': owner.domain}
