"""The versions of the API, its release, and the engines that serve it."""

import importlib.metadata
from typing import Any

from watcherlite.api import links, microversions, timestamps
from watcherlite.api.clustering.schemas import root as schemas
from watcherlite.api.clustering.versions import CLUSTERING
from watcherlite.api.operation import Operation, Request, Response, Routes
from watcherlite.db.query import ListedWorker
from watcherlite.domain.actions import ENGINE

#: The date of the first version, as in Senlin.
_UPDATED = '2016-01-18T00:00:00Z'
_MEDIA_TYPE = 'application/vnd.openstack.clustering-v1+json'


def versions(request: Request) -> Response:
    """Return the versions; clients expect the status 300."""
    return Response({'versions': [_version(request)]}, 300)


def version(request: Request) -> Response:
    """Return the version and its range of microversions."""
    return Response({'version': _version(request)})


def build_info(request: Request) -> Response:
    """Return the release of the API and of the engine."""
    revision = {'revision': importlib.metadata.version('watcherlite')}
    return Response({'build_info': {'api': revision, 'engine': revision}})


def services(request: Request) -> Response:
    """Return the engines."""
    now = request.services.clock.now()
    return Response(
        {
            'services': [
                {
                    **_service(worker),
                    # The lease is evidence of life until its end.
                    'updated_at': timestamps.seconds(min(now, worker.lease_until)),
                }
                for worker in request.services.store.list_workers()
                if ENGINE in worker.lanes
            ]
        }
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


def _service(worker: ListedWorker) -> dict[str, Any]:
    return {
        'id': worker.uuid,
        'binary': 'watcherlite-engine',
        'host': worker.host,
        'topic': ENGINE,
        'status': 'enabled',
        'state': 'up' if worker.live else 'down',
        'disabled_reason': None,
    }


ROUTES: Routes = {
    '/': {
        'GET': Operation(
            versions,
            None,
            'Show the versions of the API.',
            responses={300: schemas.VERSIONS},
        )
    },
    '/v1': {
        'GET': Operation(
            version,
            None,
            'Show the microversions of the API.',
            responses={200: schemas.VERSION},
        )
    },
    '/v1/build-info': {
        'GET': Operation(
            build_info,
            'build_info:build_info',
            'Show the release of the service.',
            responses={200: schemas.BUILD_INFO},
        )
    },
    '/v1/services': {
        'GET': Operation(
            services,
            'services:index',
            'List the engines of clusters.',
            responses={200: schemas.SERVICES},
        )
    },
}
