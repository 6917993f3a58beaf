"""The version documents: of the service, and of one version."""

from watcherlite.api import links, microversions
from watcherlite.api.infra_optim.schemas import root as schemas
from watcherlite.api.infra_optim.versions import INFRA_OPTIM
from watcherlite.api.operation import Request, Response, RouteTable, Version

NAME = 'OpenStack Watcher API'
DESCRIPTION = (
    'watcherlite plans, executes and monitors changes to infrastructure. This is its '
    'infra-optim API, which is compatible with clients of Watcher.'
)
#: Without goals and strategies, as in upstream.
COLLECTIONS: dict[str, Version] = {
    'audit_templates': (1, 0),
    'audits': (1, 0),
    'data_model': (1, 3),
    'actions': (1, 0),
    'action_plans': (1, 0),
    'scoring_engines': (1, 0),
    'services': (1, 0),
    'webhooks': (1, 4),
}


ROUTES = RouteTable()


@ROUTES.route('GET /', None, {200: schemas.SERVICE})
def service(request: Request) -> Response:
    """Show the versions of the API."""
    version = {
        'id': 'v1',
        'status': 'CURRENT',
        'max_version': microversions.text(INFRA_OPTIM.maximum),
        'min_version': microversions.text(INFRA_OPTIM.minimum),
        'links': [{'href': f'{request.root_url}/v1/', 'rel': links.SELF}],
    }
    return Response(
        {
            'name': NAME,
            'description': DESCRIPTION,
            'versions': [version],
            'default_version': version,
        }
    )


@ROUTES.route('GET /v1', None, {200: schemas.VERSION})
def version(request: Request) -> Response:
    """Show the collections of the version."""
    return Response(
        {
            'id': 'v1',
            'media_types': [
                {
                    'base': 'application/json',
                    'type': 'application/vnd.openstack.watcher.v1+json',
                }
            ],
            'links': [{'href': f'{request.root_url}/v1/', 'rel': links.SELF}],
            **{
                noun: links.collection_links(request, noun)
                for noun, since in COLLECTIONS.items()
                if request.version >= since
            },
        }
    )
