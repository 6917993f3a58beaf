"""Audit templates."""

from collections.abc import Collection, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import attributes, patches
from watcherlite.api.infra_optim.collection import ObjectCollection
from watcherlite.api.infra_optim.schemas import audit_templates as schemas
from watcherlite.api.infra_optim.schemas import scopes
from watcherlite.api.infra_optim.versions import DEFAULT_PARAMETERS
from watcherlite.api.operation import Request, Response
from watcherlite.conf import masking
from watcherlite.db.query import ListedTemplate
from watcherlite.domain.audits import AuditTemplateRequest
from watcherlite.execution.retries import retry_on


def represent(request: Request, listed: ListedTemplate, detail: bool) -> dict[str, Any]:
    """Return a template; `detail` adds description, parameters (1.7) and times.

    Credentials in the parameters are masked.
    """
    template = listed.template
    shown: dict[str, Any] = {
        'uuid': template.uuid,
        'name': template.name,
        'goal_uuid': listed.goal_uuid,
        'goal_name': listed.goal_name,
        'strategy_uuid': listed.strategy_uuid,
        'strategy_name': listed.strategy_name,
        'scope': list(template.scope),
        'links': links.object_links(request, 'audit_templates', template.uuid),
    }
    if detail:
        shown['description'] = template.description
        if request.version >= DEFAULT_PARAMETERS:
            shown['default_parameters'] = masking.mask_data(
                dict(template.default_parameters)
            )
        shown.update(timestamps.of(template))
    return shown


PARAMETERS = 'default_parameters'
#: Attributes that a patch cannot remove.
MANDATORY = ('name', 'goal')
#: Values of removed attributes; default: None.
EMPTY: dict[str, Any] = {'scope': [], PARAMETERS: {}}
_CHECKER = attributes.checker(schemas.ATTRIBUTES)


TEMPLATES = ObjectCollection(
    'audit_templates',
    'audit_template',
    lambda store: store.list_audit_templates,
    lambda store, name, deleted: store.find_audit_template(name, deleted),
    represent,
)

ROUTES = TEMPLATES.routes(schemas, schemas.TEMPLATE, 'Show an audit template.')


@ROUTES.route(
    'POST /v1/audit_templates',
    'audit_template:create',
    {201: schemas.TEMPLATE, 406: None, 409: None},
    restore=TEMPLATES.respond_created,
    body=schemas.NEW,
)
def create(request: Request) -> Response:
    """Create an audit template.

    :raises Invalid: the goal or the strategy is unknown, they do not match, or the
        scope or the parameters are invalid
    :raises NotAcceptable: it has parameters, which require 1.7
    :raises Conflict: the name is in use
    """
    given = {name: value for name, value in request.body.items() if value is not None}
    _check_version(request, given)
    scopes.check(given.get('scope'))
    template = request.services.templates.create(AuditTemplateRequest(**given))
    return TEMPLATES.respond_created(request, {'audit_template': template.uuid})


@ROUTES.route(
    'PATCH /v1/audit_templates/{audit_template}',
    'audit_template:update',
    {200: schemas.TEMPLATE, 406: None, 409: None},
    body=patches.SCHEMA,
)
def update(request: Request) -> Response:
    """Update an audit template.

    An empty patch changes nothing.

    :raises Conflict: the goal or strategy of a template with parameters changes
    """
    changes = patches.parse(
        request.body, allowed=schemas.ATTRIBUTES, mandatory=MANDATORY
    )
    _check_version(request, {change.name for change in changes})
    return TEMPLATES.respond_stored(request, _changed(request, changes))


@retry_on(exceptions.OutOfDate)
def _changed(request: Request, changes: Sequence[patches.Change]) -> str:
    """Apply a patch to the stored template; return its uuid."""
    found = TEMPLATES.find(request, request.show_deleted)
    values = attributes.patched(_document(found), changes, _CHECKER, EMPTY)
    scopes.check(values.get('scope'))
    request.services.templates.update(found.template.uuid, values, found.template)
    return found.template.uuid


@ROUTES.route(
    'DELETE /v1/audit_templates/{audit_template}', 'audit_template:delete', {204: None}
)
def delete(request: Request) -> Response:
    """Delete an audit template."""
    request.services.templates.delete(request.path['audit_template'])
    return Response(status=204)


def _check_version(request: Request, names: Collection[str]) -> None:
    if PARAMETERS in names and request.version < DEFAULT_PARAMETERS:
        raise exceptions.NotAcceptable(
            f'API microversion 1.7 or higher is required for {PARAMETERS}.'
        )


def _document(found: ListedTemplate) -> dict[str, Any]:
    template = found.template
    return {
        'name': template.name,
        'description': template.description,
        'goal': found.goal_uuid,
        'strategy': found.strategy_uuid,
        'scope': list(template.scope),
        PARAMETERS: dict(template.default_parameters),
    }
