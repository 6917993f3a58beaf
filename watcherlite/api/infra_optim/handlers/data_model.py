"""The data models of the infrastructure, which strategies examine."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api.infra_optim import versions
from watcherlite.api.infra_optim.schemas import data_model as schemas
from watcherlite.api.operation import Request, Response, RouteTable

#: Fields of upstream's model that a later version has -> that version.
NEWER = {
    'server_pinned_az': versions.EXTENDED_MODEL,
    'server_flavor_extra_specs': versions.EXTENDED_MODEL,
}

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
    """Show a data model of the infrastructure.

    Without a cloud it is empty, and the comment has the reason.

    :raises NotFound: no such type, or no such audit
    :raises ServiceUnavailable: the cloud cannot be read now
    """
    models = request.services.data_models
    kind = request.query.get('data_model_type', schemas.COMPUTE)
    known = models.names
    if request.version < versions.OTHER_MODELS:
        known = [schemas.COMPUTE]
    if kind not in known:
        raise exceptions.NotFound(
            f'The {kind} data model could not be found. There is {", ".join(known)}'
        )
    scope: Sequence[Any] = ()
    if 'audit_uuid' in request.query:
        audit = request.services.store.find_audit(request.query['audit_uuid'].lower())
        scope = audit.audit.scope
    try:
        rows = models.rows(kind, scope)
    except exceptions.ConfigurationError as error:
        return Response({'context': [], 'comment': f'No {kind} model: {error}'})
    hidden = {name for name, since in NEWER.items() if request.version < since}
    return Response({'context': [_without(row, hidden) for row in rows]})


def _without(row: Mapping[str, Any], hidden: set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in hidden}
