"""The data model of strategies.

There are no collectors of compute nodes, so the model is that of a Watcher with an
empty cluster.
"""

from watcherlite import exceptions
from watcherlite.api.infra_optim.schemas import data_model as schemas
from watcherlite.api.operation import Request, Response, RouteTable

NOTHING = 'No compute model: no collector of compute nodes is installed.'


ROUTES = RouteTable()


@ROUTES.route(
    'GET /v1/data_model',
    'data_model:get_all',
    {200: schemas.DATA_MODEL, 404: None},
    query=schemas.QUERY,
    since=schemas.SINCE,
    too_early=406,
    too_early_text='API microversion 1.3 or higher is required.',
)
def show(request: Request) -> Response:
    """Show the data model of the infrastructure.

    :raises NotFound: no such type, or no such audit
    """
    kind = request.query.get('data_model_type', schemas.COMPUTE)
    if kind != schemas.COMPUTE:
        raise exceptions.NotFound(
            f'The {kind} data model could not be found. There is {schemas.COMPUTE}'
        )
    if 'audit_uuid' in request.query:
        request.services.store.find_audit(request.query['audit_uuid'].lower())
    return Response({'context': [], 'comment': NOTHING})
