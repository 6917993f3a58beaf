"""The three times that every stored object has."""

import datetime
from typing import Protocol

from watcherlite.api.infra_optim.representations import common


class Stored(Protocol):
    """An object that says when it was stored, changed and deleted."""

    @property
    def created_at(self) -> datetime.datetime | None: ...

    @property
    def updated_at(self) -> datetime.datetime | None: ...

    @property
    def deleted_at(self) -> datetime.datetime | None: ...


def of(stored: Stored) -> dict[str, str | None]:
    """Return its times as every detailed view shows them."""
    return {
        'created_at': common.time(stored.created_at),
        'updated_at': common.time(stored.updated_at),
        'deleted_at': common.time(stored.deleted_at),
    }
