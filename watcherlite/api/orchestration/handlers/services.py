"""The engines that work on stacks, as their leases tell of them."""

from typing import Any

from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.api.orchestration.representations import common
from watcherlite.api.orchestration.schemas import root as root_schemas
from watcherlite.api.orchestration.schemas import services as schemas
from watcherlite.db.listing import ListedWorker
from watcherlite.domain.actions import ENGINE


def index(request: Request) -> Answer:
    """Answer which engines there are; there are few."""
    services = request.services
    now = services.clock.now()
    return Answer(
        {
            'services': [
                {
                    **_represent(worker),
                    # It vouches for the time until then.
                    'updated_at': common.time(min(now, worker.lease_until)),
                }
                for worker in services.store.list_workers()
                if ENGINE in worker.lanes
            ]
        }
    )


def _represent(worker: ListedWorker) -> dict[str, Any]:
    return {
        'id': worker.uuid,
        'engine_id': worker.uuid,
        'binary': 'watcherlite-engine',
        'topic': ENGINE,
        'host': worker.host,
        'hostname': worker.host,
        'status': 'up' if worker.live else 'down',
        'created_at': common.time(worker.started_at),
        'deleted_at': None,
    }


ROUTES: Routes = {
    '/v1/{tenant}/services': {
        'GET': Operation(
            index,
            'service:index',
            'List the engines that work on stacks.',
            query=root_schemas.NO_ARGUMENTS,
            answers={200: schemas.SERVICES},
        )
    }
}
