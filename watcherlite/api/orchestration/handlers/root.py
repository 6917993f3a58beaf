"""What there is: the version of the API, and the release that serves it."""

import importlib.metadata

from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.api.orchestration import links
from watcherlite.api.orchestration.schemas import root as schemas


def versions(request: Request) -> Answer:
    """Answer which versions there are; clients expect to have to choose."""
    href = f'{request.mount_url}/v1/'
    version = {'id': 'v1.0', 'status': 'CURRENT', 'links': [links.link(href)]}
    return Answer({'versions': [version]}, 300)


def build_info(request: Request) -> Answer:
    """Answer which release answers, which is that of the engine as well."""
    revision = {'revision': importlib.metadata.version('watcherlite')}
    return Answer({'api': revision, 'engine': revision})


ROUTES: Routes = {
    '/': {
        'GET': Operation(
            versions,
            None,
            'Show the versions of the API.',
            answers={300: schemas.VERSIONS},
        )
    },
    '/v1/{tenant}/build_info': {
        'GET': Operation(
            build_info,
            'build_info:build_info',
            'Show which release this is.',
            query=schemas.NO_ARGUMENTS,
            answers={200: schemas.BUILD_INFO},
        )
    },
}
