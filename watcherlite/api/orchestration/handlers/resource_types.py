"""Types of resources with their schemas, and versions of templates."""

from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import resource_types as schemas
from watcherlite.domain import patterns
from watcherlite.domain.resource_results import Property
from watcherlite.domain.templates import formats
from watcherlite.domain.templates import versions as template_versions
from watcherlite.domain.templates.formats import Format
from watcherlite.domain.templates.functions import function_tables
from watcherlite.plugins.base import ResourceHandler

SUPPORTED = 'SUPPORTED'

#: Type of JSON schema -> type of properties in templates.
_NAMES = {
    'string': 'string',
    'integer': 'integer',
    'number': 'number',
    'boolean': 'boolean',
    'object': 'map',
    'array': 'list',
}
#: Type of JSON schema -> type of parameters in templates.
_PARAMETERS = {
    'integer': 'number',
    'number': 'number',
    'boolean': 'boolean',
    'map': 'json',
    'list': 'comma_delimited_list',
}
#: Constraint of HOT -> that of templates of AWS.
_CFN_VALUES = {'allowed_values': 'AllowedValues', 'allowed_pattern': 'AllowedPattern'}
_CFN_RANGES = {'range': 'Value', 'length': 'Length'}
_RANGES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    'range': {'min': ('minimum',), 'max': ('maximum',)},
    'length': {
        'min': ('minLength', 'minItems', 'minProperties'),
        'max': ('maxLength', 'maxItems', 'maxProperties'),
    },
}


def represent(name: str, handler: type[ResourceHandler]) -> dict[str, Any]:
    """Return a type with its properties and attributes."""
    return {
        'resource_type': name,
        'properties': {
            key: _property(declared) for key, declared in handler.properties.items()
        },
        'attributes': {
            key: {'description': text} for key, text in _attributes(handler).items()
        },
        # All installed types are supported.
        'support_status': {
            'status': SUPPORTED,
            'message': None,
            'version': None,
            'previous_status': None,
        },
    }


def _attributes(handler: type[ResourceHandler]) -> dict[str, str]:
    return {**handler.attributes, **handler.live_attributes}


def build_template(
    name: str, handler: type[ResourceHandler], language: Format
) -> dict[str, Any]:
    """Return a template with one resource of a type and its parameters."""
    resource = name.rpartition('::')[2]
    hot = language is formats.HOT
    version = template_versions.LATEST if hot else template_versions.CFN_VERSIONS[-1]
    key = language.key
    found: dict[str, Any] = {
        version.key: version.date,
        key('description'): f'Initial template of {resource}',
    }
    parameter = 'get_param' if hot else 'Ref'
    if handler.properties:
        declare = _parameter if hot else _cfn_parameter
        found[key('parameters')] = {
            name: declare(declared) for name, declared in handler.properties.items()
        }
    found[key('resources')] = {
        resource: {
            key('type'): name,
            key('properties'): {each: {parameter: each} for each in handler.properties},
        }
    }
    attribute = 'get_attr' if hot else 'Fn::GetAtt'
    attributes = _attributes(handler)
    if attributes:
        found[key('outputs')] = {
            each: {
                key('description'): text,
                key('value'): {attribute: [resource, each]},
            }
            for each, text in attributes.items()
        }
    return found


def _parameter(declared: Property) -> dict[str, Any]:
    """Return the parameter of HOT for a property."""
    shown: dict[str, Any] = {'type': _parameter_type(declared.schema)}
    if declared.description:
        shown['description'] = declared.description
    if 'default' in declared.schema:
        shown['default'] = declared.schema['default']
    rules = _constraints(declared.schema)
    if rules and shown['type'] in ('string', 'number'):
        shown['constraints'] = rules
    return shown


def _cfn_parameter(declared: Property) -> dict[str, Any]:
    """Return the parameter of a template of AWS for a property."""
    parameter = _parameter(declared)
    shown: dict[str, Any] = {'Type': formats.CFN.types[parameter['type']]}
    for name in ('description', 'default'):
        if name in parameter:
            shown[formats.CFN.key(name)] = parameter[name]
    for rule in parameter.get('constraints', ()):
        ((kind, settings),) = rule.items()
        if kind in _CFN_VALUES:
            shown[_CFN_VALUES[kind]] = settings
        else:
            noun = _CFN_RANGES[kind]
            shown |= {f'{side.title()}{noun}': n for side, n in settings.items()}
    return shown


def _property(declared: Property) -> dict[str, Any]:
    shown: dict[str, Any] = {
        **_schema(declared.schema),
        'required': declared.required,
        'update_allowed': declared.updatable,
        'immutable': declared.immutable,
    }
    if declared.description:
        shown['description'] = declared.description
    return shown


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {'type': _type(schema)}
    if 'default' in schema:
        shown['default'] = schema['default']
    rules = _constraints(schema)
    if rules:
        shown['constraints'] = rules
    inner = {name: _schema(one) for name, one in schema.get('properties', {}).items()}
    items = schema.get('items')
    if isinstance(items, Mapping):
        inner = {'*': _schema(items)}
    if inner:
        shown['schema'] = inner
    return shown


def _type(schema: Mapping[str, Any]) -> str:
    kinds = schema.get('type', ())
    known = [kinds] if isinstance(kinds, str) else [k for k in kinds if k != 'null']
    if len(known) == 1:
        return _NAMES.get(known[0], 'any')
    values = schema.get('enum', ())
    return 'string' if values and all(isinstance(v, str) for v in values) else 'any'


def _parameter_type(schema: Mapping[str, Any]) -> str:
    """Return the parameter type for a property."""
    kind = _type(schema)
    if kind == 'list' and _type(schema.get('items', {})) in ('map', 'list'):
        return 'json'
    return _PARAMETERS.get(kind, 'string')


def _constraints(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if 'enum' in schema:
        found.append({'allowed_values': list(schema['enum'])})
    for kind, keys in _RANGES.items():
        limits = {}
        for key, names in keys.items():
            for name in names:
                if name in schema:
                    limits[key] = schema[name]
        if limits:
            found.append({kind: limits})
    if 'pattern' in schema:
        found.append({'allowed_pattern': schema['pattern']})
    return found


_TYPES = '/v1/{tenant}/resource_types'
_VERSIONS = '/v1/{tenant}/template_versions'
ROUTES = RouteTable(query=fragments.ANY_ARGUMENTS)


@ROUTES.route(
    f'GET {_TYPES}',
    'stacks:list_resource_types',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
)
def index(request: Request) -> Response:
    """List resource types.

    :raises Invalid: the regular expression is invalid
    """
    asked = request.query
    desired = _pattern(asked.get('name', ''))
    status = asked.get('support_status', SUPPORTED)
    found = [
        (name, handler)
        for name, handler in sorted(request.services.plugins.resource_types().items())
        if handler.in_templates
        and desired.matches(name, whole=False)
        and status == SUPPORTED
    ]
    shown: list[Any] = [name for name, _ in found]
    if asked.get('with_description'):
        shown = [
            {'resource_type': name, 'description': handler.description or None}
            for name, handler in found
        ]
    return Response({'resource_types': shown})


@ROUTES.route(
    f'GET {_TYPES}/{{type_name}}',
    'stacks:resource_schema',
    {200: schemas.TYPE},
    query=schemas.SHOW,
)
def show(request: Request) -> Response:
    """Show the schema of a resource type."""
    name, handler = _find(request)
    shown = represent(name, handler)
    if request.query.get('with_description'):
        shown['description'] = handler.description or None
    return Response(shown)


@ROUTES.route(
    f'GET {_TYPES}/{{type_name}}/template',
    'stacks:generate_template',
    {200: schemas.DOCUMENT},
    query=schemas.TEMPLATE,
)
def template(request: Request) -> Response:
    """Show a template with a resource of a type."""
    name, handler = _find(request)
    desired = request.query.get('template_type', formats.CFN.type)
    language = next(one for one in formats.FORMATS if one.type == desired)
    return Response(build_template(name, handler, language))


@ROUTES.route(
    f'GET {_VERSIONS}', 'stacks:list_template_versions', {200: schemas.VERSIONS}
)
def versions(request: Request) -> Response:
    """List template versions."""
    return Response({'template_versions': template_versions.list_versions()})


@ROUTES.route(
    f'GET {_VERSIONS}/{{template_version}}/functions',
    'stacks:list_template_functions',
    {200: schemas.FUNCTIONS},
    query=schemas.FUNCTIONS_QUERY,
)
def functions(request: Request) -> Response:
    """List the functions of a template version."""
    named = request.path['template_version']
    version = template_versions.named(named)
    if version is None:
        raise exceptions.NotFound(
            f'Template with version {named} not found; GET template_versions lists all'
        )
    conditions = request.query.get('with_condition_func', False)
    listed = function_tables.list_functions(version, conditions)
    return Response({'template_functions': listed})


def _find(request: Request) -> tuple[str, type[ResourceHandler]]:
    name = request.path['type_name']
    handler = request.services.plugins.resource_types().get(name)
    if handler is None or not handler.in_templates:
        raise exceptions.StackNotFound(
            f'The Resource Type ({name}) could not be found.'
        )
    return name, handler


def _pattern(text: str) -> patterns.Pattern:
    try:
        return patterns.compiled(text)
    except patterns.InvalidPattern as error:
        raise exceptions.Invalid(
            f'name: this is no regular expression: {error}'
        ) from None
