"""How the services are shown: the daemons, as their leases tell of them.

A daemon that serves several lanes is shown once for each, so that whoever looks
for a service by its name finds it.
"""

import dataclasses
import datetime
from collections.abc import Iterable
from typing import Any

from watcherlite.api.infra_optim import links
from watcherlite.api.infra_optim.representations import common
from watcherlite.api.operation import Request
from watcherlite.db.listing import ListedWorker
from watcherlite.domain.actions import LANES

ACTIVE = 'ACTIVE'
FAILED = 'FAILED'


@dataclasses.dataclass(frozen=True, slots=True)
class Service:
    """One lane of one worker.

    :param id: stays with it as long as the worker is known
    :param status: ACTIVE while its lease runs, FAILED after it
    :param last_seen_up: until when its lease vouches for it, at most now
    """

    id: int
    name: str
    host: str
    status: str
    last_seen_up: datetime.datetime
    created_at: datetime.datetime


def of_workers(
    workers: Iterable[ListedWorker], now: datetime.datetime
) -> list[Service]:
    """Return the services that some workers are, by id."""
    services = [
        Service(
            id=(worker.id - 1) * len(LANES) + place + 1,
            name=f'watcherlite-{lane}',
            host=worker.host,
            status=ACTIVE if worker.live else FAILED,
            last_seen_up=min(now, worker.lease_until),
            created_at=worker.started_at,
        )
        for worker in workers
        for place, lane in enumerate(LANES)
        if lane in worker.lanes
    ]
    return sorted(services, key=lambda service: service.id)


def represent(request: Request, service: Service, detail: bool) -> dict[str, Any]:
    """Return a service; `detail` adds when it was seen, and its times."""
    shown: dict[str, Any] = {
        'id': service.id,
        'name': service.name,
        'host': service.host,
        'status': service.status,
        'links': links.of(request, 'services', service.id),
    }
    if detail:
        shown['last_seen_up'] = common.naive_time(service.last_seen_up)
        shown['created_at'] = common.time(service.created_at)
        shown['updated_at'] = common.time(service.last_seen_up)
        shown['deleted_at'] = None
    return shown
