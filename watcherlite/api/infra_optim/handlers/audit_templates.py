"""Audit templates: what audits of one kind have in common."""

from collections.abc import Collection, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api.infra_optim import attributes, links, listing, patches
from watcherlite.api.infra_optim.representations import (
    audit_templates as representations,
)
from watcherlite.api.infra_optim.schemas import audit_templates as schemas
from watcherlite.api.infra_optim.schemas import scopes
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.db.listing import ListedTemplate
from watcherlite.domain.audits import NewAuditTemplate
from watcherlite.execution.conflicts import again_on

PARAMETERS = 'default_parameters'
#: What a patch cannot remove.
MANDATORY = ('name', 'goal')
#: What removes the others, where that is not None.
EMPTY: dict[str, Any] = {'scope': [], PARAMETERS: {}}
_CHECKER = attributes.checker(schemas.ATTRIBUTES)


index, detail = listing.calls(
    'audit_templates',
    lambda store: store.list_audit_templates,
    representations.represent,
)


def show(request: Request) -> Answer:
    """Answer one template, by uuid, id or name; NotFound."""
    return Answer(_represented(request, _found(request)))


def create(request: Request) -> Answer:
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
    stored = request.services.store.find_audit_template(template.uuid)
    location = links.url(request, 'audit_templates', template.uuid)
    return Answer(_represented(request, stored), 201, {'Location': location})


def update(request: Request) -> Answer:
    """Change a template by a patch; a patch without lines changes nothing.

    :raises Conflict: another goal or strategy for a template that has parameters
    """
    changes = patches.parse(
        request.body, allowed=schemas.ATTRIBUTES, mandatory=MANDATORY
    )
    _check_version(request, {change.name for change in changes})
    uuid = _changed(request, changes)
    stored = request.services.store.find_audit_template(uuid)
    return Answer(_represented(request, stored))


@again_on(exceptions.OutOfDate)
def _changed(request: Request, changes: Sequence[patches.Change]) -> str:
    """Change a template as it is now; return its uuid."""
    found = _found(request)
    values = attributes.patched(_document(found), changes, _CHECKER, EMPTY)
    scopes.check(values.get('scope'))
    request.services.templates.update(found.template.uuid, values, found.template)
    return found.template.uuid


def delete(request: Request) -> Answer:
    """Delete a template; NotFound. Audits made from it stay as they are."""
    request.services.templates.delete(request.path['audit_template'])
    return Answer(status=204)


def _found(request: Request) -> ListedTemplate:
    name = request.path['audit_template']
    return request.services.store.find_audit_template(name, request.show_deleted)


def _represented(request: Request, found: ListedTemplate) -> dict[str, Any]:
    return representations.represent(request, found, True)


def _check_version(request: Request, names: Collection[str]) -> None:
    if PARAMETERS in names and request.version < representations.DEFAULT_PARAMETERS:
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


ROUTES: Routes = {
    '/v1/audit_templates': {
        'GET': Operation(
            index,
            'audit_template:get_all',
            'List audit templates.',
            query=schemas.QUERY,
            answers={200: schemas.COLLECTION},
        ),
        'POST': Operation(
            create,
            'audit_template:create',
            'Create an audit template.',
            body=schemas.NEW,
            answers={201: schemas.TEMPLATE, 406: None, 409: None},
        ),
    },
    '/v1/audit_templates/detail': {
        'GET': Operation(
            detail,
            'audit_template:detail',
            'List audit templates with details.',
            query=schemas.QUERY,
            answers={200: schemas.DETAILED_COLLECTION},
        ),
    },
    '/v1/audit_templates/{audit_template}': {
        'GET': Operation(
            show,
            'audit_template:get',
            'Show an audit template.',
            answers={200: schemas.TEMPLATE},
        ),
        'PATCH': Operation(
            update,
            'audit_template:update',
            'Change an audit template.',
            body=patches.SCHEMA,
            answers={200: schemas.TEMPLATE, 406: None, 409: None},
        ),
        'DELETE': Operation(
            delete,
            'audit_template:delete',
            'Delete an audit template.',
            answers={204: None},
        ),
    },
}
