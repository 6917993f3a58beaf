"""The versions of the API, its release, and the engines that serve it."""

import datetime
import importlib.metadata
from typing import Any

from watcherlite.api import links, microversions, timestamps
from watcherlite.api.clustering.schemas import root as schemas
from watcherlite.api.clustering.versions import CLUSTERING
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.db.query import ListedWorker
from watcherlite.domain.actions import ENGINE

#: The date of the first version, as in Senlin.
_UPDATED = '2016-01-18T00:00:00Z'
_MEDIA_TYPE = 'application/vnd.openstack.clustering-v1+json'


ROUTES = RouteTable()


@ROUTES.route('GET /', None, {300: schemas.VERSIONS})
def versions(request: Request) -> Response:
    """Show the versions of the API."""
    # Clients expect the status 300.
    return Response({'versions': [_version(request)]}, 300)


@ROUTES.route('GET /v1', None, {200: schemas.VERSION})
def version(request: Request) -> Response:
    """Show the microversions of the API."""
    return Response({'version': _version(request)})


@ROUTES.route('GET /v1/build-info', 'build_info:build_info', {200: schemas.BUILD_INFO})
def build_info(request: Request) -> Response:
    """Show the release of the service."""
    revision = {'revision': importlib.metadata.version('watcherlite')}
    return Response({'build_info': {'api': revision, 'engine': revision}})


@ROUTES.route('GET /v1/services', 'services:index', {200: schemas.SERVICES})
def services(request: Request) -> Response:
    """List the engines of clusters."""
    now = request.services.clock.now()
    workers = request.services.store.list_workers()
    return Response(
        {'services': [_service(one, now) for one in workers if ENGINE in one.lanes]}
    )


def _version(request: Request) -> dict[str, Any]:
    return {
        'id': '1.0',
        'status': 'CURRENT',
        'updated': _UPDATED,
        'media-types': [{'base': 'application/json', 'type': _MEDIA_TYPE}],
        'links': [{'href': links.url(request, ''), 'rel': 'self'}],
        'min_version': microversions.text(CLUSTERING.minimum),
        'max_version': microversions.text(CLUSTERING.maximum),
    }


def _service(worker: ListedWorker, now: datetime.datetime) -> dict[str, Any]:
    return {
        'id': worker.uuid,
        'binary': 'watcherlite-engine',
        'host': worker.host,
        'topic': ENGINE,
        'status': 'enabled',
        'state': 'up' if worker.live else 'down',
        'disabled_reason': None,
        # The lease is evidence of life until its end.
        'updated_at': timestamps.seconds(min(now, worker.lease_until)),
    }
