"""The versions of the API, its release, and the engines that serve it."""

import datetime
import importlib.metadata
from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.microversions import Versions
from watcherlite.api.operation import NOTHING, Request, Response, RouteTable
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import root as schemas
from watcherlite.db.query import ListedWorker
from watcherlite.domain.actions import ENGINE

ORCHESTRATION = Versions(
    'orchestration',
    {
        (1, 0): 'Stacks and their resources, compatible with clients of Heat; stacks '
        'can be locked.'
    },
    in_headers=False,
)


ROUTES = RouteTable(query=fragments.ANY_ARGUMENTS)


@ROUTES.route('GET /', None, {300: schemas.VERSIONS}, query=NOTHING)
def versions(request: Request) -> Response:
    """Show the versions of the API."""
    # Clients expect the status 300.
    href = f'{request.mount_url}/v1/'
    version = {'id': 'v1.0', 'status': 'CURRENT', 'links': [links.link(href)]}
    return Response({'versions': [version]}, 300)


@ROUTES.route(
    'GET /v1/{tenant}/build_info', 'build_info:build_info', {200: schemas.BUILD_INFO}
)
def build_info(request: Request) -> Response:
    """Show the release of the service."""
    revision = {'revision': importlib.metadata.version('watcherlite')}
    return Response({'api': revision, 'engine': revision})


@ROUTES.route('GET /v1/{tenant}/services', 'service:index', {200: schemas.SERVICES})
def services(request: Request) -> Response:
    """List the engines of stacks."""
    now = request.services.clock.now()
    workers = request.services.store.list_workers()
    return Response(
        {'services': [_service(one, now) for one in workers if ENGINE in one.lanes]}
    )


def _service(worker: ListedWorker, now: datetime.datetime) -> dict[str, Any]:
    return {
        'id': worker.uuid,
        'engine_id': worker.uuid,
        'binary': 'watcherlite-engine',
        'topic': ENGINE,
        'host': worker.host,
        'hostname': worker.host,
        'status': 'up' if worker.live else 'down',
        'created_at': timestamps.seconds(worker.started_at),
        'deleted_at': None,
        # The lease is evidence of life until its end.
        'updated_at': timestamps.seconds(min(now, worker.lease_until)),
    }
