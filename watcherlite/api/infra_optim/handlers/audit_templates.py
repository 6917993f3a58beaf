"""Audit templates."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import attributes, pages, patches
from watcherlite.api.infra_optim.schemas import audit_templates as schemas
from watcherlite.api.infra_optim.schemas import scopes
from watcherlite.api.infra_optim.versions import DEFAULT_PARAMETERS
from watcherlite.api.operation import Operation, Request, Response, Routes, merge_routes
from watcherlite.conf import masking
from watcherlite.db.query import ListedTemplate
from watcherlite.domain.audits import NewAuditTemplate
from watcherlite.execution.retries import retry_on


def represent(request: Request, listed: ListedTemplate, detail: bool) -> dict[str, Any]:
    """Return a template; `detail` adds description, parameters (1.7) and times.

    Credentials among the parameters are masked.
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
#: What a patch cannot remove.
MANDATORY = ('name', 'goal')
#: What removes the others, where that is not None.
EMPTY: dict[str, Any] = {'scope': [], PARAMETERS: {}}
_CHECKER = attributes.checker(schemas.ATTRIBUTES)


index, detail = pages.list_handlers(
    'audit_templates',
    lambda store: store.list_audit_templates,
    represent,
)


def show(request: Request) -> Response:
    """Return one template, by uuid, id or name; NotFound."""
    return Response(_represented(request, _found(request)))


def create(request: Request) -> Response:
    """Store a template.

    :raises Invalid: the goal or the strategy is unknown, they do not belong
        together, or scope or parameters are not right
    :raises NotAcceptable: it has parameters before 1.7
    :raises Conflict: there is a template of that name
    """
    given = {name: value for name, value in request.body.items() if value is not None}
    _check_version(request, given)
    scopes.check(given.get('scope'))
    template = request.services.templates.create(NewAuditTemplate(**given))
    return _created(request, {'audit_template': template.uuid})


def _created(request: Request, created: Mapping[str, str]) -> Response:
    """Return the template that was created."""
    uuid = created['audit_template']
    stored = request.services.store.find_audit_template(uuid)
    location = links.unmounted_url(request, 'audit_templates', uuid)
    return Response(_represented(request, stored), 201, {'Location': location})


def update(request: Request) -> Response:
    """Change a template by a patch; a patch without lines changes nothing.

    :raises Conflict: another goal or strategy for a template that has parameters
    """
    changes = patches.parse(
        request.body, allowed=schemas.ATTRIBUTES, mandatory=MANDATORY
    )
    _check_version(request, {change.name for change in changes})
    uuid = _changed(request, changes)
    stored = request.services.store.find_audit_template(uuid)
    return Response(_represented(request, stored))


@retry_on(exceptions.OutOfDate)
def _changed(request: Request, changes: Sequence[patches.Change]) -> str:
    """Change a template as it is now; return its uuid."""
    found = _found(request)
    values = attributes.patched(_document(found), changes, _CHECKER, EMPTY)
    scopes.check(values.get('scope'))
    request.services.templates.update(found.template.uuid, values, found.template)
    return found.template.uuid


def delete(request: Request) -> Response:
    """Delete a template; NotFound. Audits made from it stay as they are."""
    request.services.templates.delete(request.path['audit_template'])
    return Response(status=204)


def _found(request: Request) -> ListedTemplate:
    name = request.path['audit_template']
    return request.services.store.find_audit_template(name, request.show_deleted)


def _represented(request: Request, found: ListedTemplate) -> dict[str, Any]:
    return represent(request, found, True)


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


ROUTES: Routes = merge_routes(
    pages.list_routes('audit_templates', 'audit_template', index, detail, schemas),
    {
        '/v1/audit_templates': {
            'POST': Operation(
                create,
                'audit_template:create',
                'Create an audit template.',
                restore=_created,
                body=schemas.NEW,
                responses={201: schemas.TEMPLATE, 406: None, 409: None},
            ),
        },
        '/v1/audit_templates/{audit_template}': {
            'GET': Operation(
                show,
                'audit_template:get',
                'Show an audit template.',
                responses={200: schemas.TEMPLATE},
            ),
            'PATCH': Operation(
                update,
                'audit_template:update',
                'Change an audit template.',
                body=patches.SCHEMA,
                responses={200: schemas.TEMPLATE, 406: None, 409: None},
            ),
            'DELETE': Operation(
                delete,
                'audit_template:delete',
                'Delete an audit template.',
                responses={204: None},
            ),
        },
    },
)
