"""Plugins that are installed where the API runs."""

import dataclasses

from watcherlite.api.infra_optim.schemas import plugins as schemas
from watcherlite.api.infra_optim.versions import PLUGINS
from watcherlite.api.operation import Request, Response, RouteTable

ROUTES = RouteTable(schemas.QUERY)


@ROUTES.route(
    'GET /v1/plugins', 'plugin:get_all', {200: schemas.COLLECTION}, since=PLUGINS
)
def index(request: Request) -> Response:
    """List the installed plugins, with their errors."""
    namespace = request.query.get('namespace')
    found = [
        dataclasses.asdict(entry)
        for entry in request.services.plugins.entries()
        if namespace in (None, entry.namespace)
    ]
    return Response({'plugins': found})
