"""Types of resources, and versions of templates."""

from typing import Any

from watcherlite import exceptions
from watcherlite.api.operation import Operation, Request, Response, Routes
from watcherlite.api.orchestration import resource_schemas
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import resource_types as schemas
from watcherlite.domain import patterns
from watcherlite.domain.templates import functions as template_functions
from watcherlite.domain.templates import versions as template_versions
from watcherlite.plugins.base import ResourceHandler


def index(request: Request) -> Response:
    """Return the types; Invalid for an invalid regular expression."""
    asked = request.query
    wanted = _pattern(asked.get('name', ''))
    status = asked.get('support_status', resource_schemas.SUPPORTED)
    found = [
        (name, handler)
        for name, handler in sorted(request.services.plugins.resource_types().items())
        if wanted.matches(name, whole=False) and status == resource_schemas.SUPPORTED
    ]
    shown: list[Any] = [name for name, _ in found]
    if asked.get('with_description'):
        shown = [
            {'resource_type': name, 'description': handler.description or None}
            for name, handler in found
        ]
    return Response({'resource_types': shown})


def show(request: Request) -> Response:
    """Return the schema of a type; NotFound."""
    name, handler = _found(request)
    shown = resource_schemas.represent(name, handler)
    if request.query.get('with_description'):
        shown['description'] = handler.description or None
    return Response(shown)


def template(request: Request) -> Response:
    """Return a template of one resource of a type; NotFound."""
    return Response(resource_schemas.template(*_found(request)))


def versions(request: Request) -> Response:
    """Return the versions of templates."""
    return Response({'template_versions': template_versions.listed()})


def functions(request: Request) -> Response:
    """Return the functions of a version of templates; NotFound."""
    named = request.path['template_version']
    date = template_versions.date_of(named.removeprefix(f'{template_versions.KEY}.'))
    if date is None:
        raise exceptions.NotFound(
            f'Template with version {named} not found; GET template_versions lists all'
        )
    conditions = request.query.get('with_condition_func', False)
    listed = template_functions.listed(date, conditions)
    return Response({'template_functions': listed})


def _found(request: Request) -> tuple[str, type[ResourceHandler]]:
    name = request.path['type_name']
    handler = request.services.plugins.resource_types().get(name)
    if handler is None:
        raise exceptions.StackNotFound(
            f'The Resource Type ({name}) could not be found.'
        )
    return name, handler


def _pattern(text: str) -> patterns.Pattern:
    try:
        return patterns.compiled(text)
    except patterns.Refused as error:
        raise exceptions.Invalid(
            f'name: this is no regular expression: {error}'
        ) from None


_TYPES = '/v1/{tenant}/resource_types'
_VERSIONS = '/v1/{tenant}/template_versions'

ROUTES: Routes = {
    _TYPES: {
        'GET': Operation(
            index,
            'stacks:list_resource_types',
            'List the types of resources.',
            query=schemas.INDEX,
            responses={200: schemas.COLLECTION},
        )
    },
    f'{_TYPES}/{{type_name}}': {
        'GET': Operation(
            show,
            'stacks:resource_schema',
            'Show what a type of resources declares.',
            query=schemas.SHOW,
            responses={200: schemas.TYPE},
        )
    },
    f'{_TYPES}/{{type_name}}/template': {
        'GET': Operation(
            template,
            'stacks:generate_template',
            'Show a template of one resource of a type.',
            query=schemas.TEMPLATE,
            responses={200: schemas.DOCUMENT},
        )
    },
    _VERSIONS: {
        'GET': Operation(
            versions,
            'stacks:list_template_versions',
            'List the versions of templates.',
            query=fragments.ANY_ARGUMENTS,
            responses={200: schemas.VERSIONS},
        )
    },
    f'{_VERSIONS}/{{template_version}}/functions': {
        'GET': Operation(
            functions,
            'stacks:list_template_functions',
            'List the functions of a version of templates.',
            query=schemas.FUNCTIONS_QUERY,
            responses={200: schemas.FUNCTIONS},
        )
    },
}
