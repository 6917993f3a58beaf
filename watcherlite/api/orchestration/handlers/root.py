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
    return Response({'versions': [_version(request)]}, 300)


@ROUTES.route('GET /v1', None, {200: schemas.VERSION}, query=NOTHING)
def version(request: Request) -> Response:
    """Show the version of the API.

    keystoneauth looks for it here if the endpoint is configured, instead of listed in
    the catalog of keystone.
    """
    return Response({'version': _version(request)})


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


def _version(request: Request) -> dict[str, Any]:
    link = links.link(links.url(request, ''))
    return {'id': 'v1.0', 'status': 'CURRENT', 'links': [link]}


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
