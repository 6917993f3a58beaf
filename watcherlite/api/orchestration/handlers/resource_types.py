"""What stacks can be made of: types of resources, versions of templates."""

from typing import Any

from watcherlite import exceptions
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.api.orchestration.representations import (
    resource_types as representations,
)
from watcherlite.api.orchestration.schemas import resource_types as schemas
from watcherlite.api.orchestration.schemas import root as root_schemas
from watcherlite.domain import patterns
from watcherlite.domain.templates import functions as template_functions
from watcherlite.domain.templates import versions as template_versions
from watcherlite.plugins.base import ResourceHandler


def index(request: Request) -> Answer:
    """Answer which types there are; Invalid for what is no regular expression."""
    asked = request.query
    wanted = _pattern(asked.get('name', ''))
    status = asked.get('support_status', representations.SUPPORTED)
    found = [
        (name, handler)
        for name, handler in sorted(request.services.plugins.resource_types().items())
        if wanted.matches(name, whole=False) and status == representations.SUPPORTED
    ]
    shown: list[Any] = [name for name, _ in found]
    if asked.get('with_description'):
        shown = [
            {'resource_type': name, 'description': handler.description or None}
            for name, handler in found
        ]
    return Answer({'resource_types': shown})


def show(request: Request) -> Answer:
    """Answer what a type declares; NotFound."""
    name, handler = _found(request)
    shown = representations.represent(name, handler)
    if request.query.get('with_description'):
        shown['description'] = handler.description or None
    return Answer(shown)


def template(request: Request) -> Answer:
    """Answer a template of one resource of a type; NotFound."""
    return Answer(representations.template(*_found(request)))


def versions(request: Request) -> Answer:
    """Answer which versions of templates there are."""
    return Answer({'template_versions': template_versions.listed()})


def functions(request: Request) -> Answer:
    """Answer which functions a version of templates has; NotFound."""
    named = request.path['template_version']
    date = template_versions.date_of(named.removeprefix(f'{template_versions.KEY}.'))
    if date is None:
        raise exceptions.NotFound(
            f'Template with version {named} not found; GET template_versions lists all'
        )
    conditions = request.query.get('with_condition_func', False)
    listed = template_functions.listed(date, conditions)
    return Answer({'template_functions': listed})


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
            answers={200: schemas.COLLECTION},
        )
    },
    f'{_TYPES}/{{type_name}}': {
        'GET': Operation(
            show,
            'stacks:resource_schema',
            'Show what a type of resources declares.',
            query=schemas.SHOW,
            answers={200: schemas.TYPE},
        )
    },
    f'{_TYPES}/{{type_name}}/template': {
        'GET': Operation(
            template,
            'stacks:generate_template',
            'Show a template of one resource of a type.',
            query=schemas.TEMPLATE,
            answers={200: schemas.DOCUMENT},
        )
    },
    _VERSIONS: {
        'GET': Operation(
            versions,
            'stacks:list_template_versions',
            'List the versions of templates.',
            query=root_schemas.NO_ARGUMENTS,
            answers={200: schemas.VERSIONS},
        )
    },
    f'{_VERSIONS}/{{template_version}}/functions': {
        'GET': Operation(
            functions,
            'stacks:list_template_functions',
            'List the functions of a version of templates.',
            query=schemas.FUNCTIONS_QUERY,
            answers={200: schemas.FUNCTIONS},
        )
    },
}
