"""What there is: versions, the release that serves them, the engines."""

import importlib.metadata
from typing import Any

from watcherlite.api import microversions
from watcherlite.api.clustering import links
from watcherlite.api.clustering.representations import common
from watcherlite.api.clustering.schemas import root as schemas
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.versions import CLUSTERING
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.db.listing import ListedWorker
from watcherlite.domain.actions import ENGINE

#: When the first version came to be, as clients know it.
_UPDATED = '2016-01-18T00:00:00Z'
_MEDIA_TYPE = 'application/vnd.openstack.clustering-v1+json'


def versions(request: Request) -> Answer:
    """Answer which versions there are; clients expect to have to choose."""
    return Answer({'versions': [_version(request)]}, 300)


def version(request: Request) -> Answer:
    """Answer which microversions the one version has."""
    return Answer({'version': _version(request)})


def build_info(request: Request) -> Answer:
    """Answer which release answers, which is that of the engine as well."""
    revision = {'revision': importlib.metadata.version('watcherlite')}
    return Answer({'build_info': {'api': revision, 'engine': revision}})


def services(request: Request) -> Answer:
    """Answer which engines there are; there are few."""
    now = request.services.clock.now()
    return Answer(
        {
            'services': [
                {
                    **_service(worker),
                    # It vouches for the time until then.
                    'updated_at': common.time(min(now, worker.lease_until)),
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
            answers={300: schemas.VERSIONS},
        )
    },
    '/v1': {
        'GET': Operation(
            version,
            None,
            'Show the microversions of the API.',
            answers={200: schemas.VERSION},
        )
    },
    '/v1/build-info': {
        'GET': Operation(
            build_info,
            'build_info:build_info',
            'Show which release this is.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.BUILD_INFO},
        )
    },
    '/v1/services': {
        'GET': Operation(
            services,
            'services:index',
            'List the engines that work on clusters.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.SERVICES},
        )
    },
}
