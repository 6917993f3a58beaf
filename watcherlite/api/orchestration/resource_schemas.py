"""Schemas of resource types in the terms of templates, and a template for each."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.resource_results import Property
from watcherlite.domain.templates import versions
from watcherlite.plugins.base import ResourceHandler

SUPPORTED = 'SUPPORTED'

#: JSON schema -> how templates call it.
_TYPES = {
    'string': 'string',
    'integer': 'integer',
    'number': 'number',
    'boolean': 'boolean',
    'object': 'map',
    'array': 'list',
}
#: Likewise for parameters of templates.
_PARAMETERS = {
    'integer': 'number',
    'number': 'number',
    'boolean': 'boolean',
    'map': 'json',
    'list': 'comma_delimited_list',
}
_RANGES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    'range': {'min': ('minimum',), 'max': ('maximum',)},
    'length': {
        'min': ('minLength', 'minItems', 'minProperties'),
        'max': ('maxLength', 'maxItems', 'maxProperties'),
    },
}


def support() -> dict[str, Any]:
    """Return how well a type is supported: all that are installed are."""
    return {
        'status': SUPPORTED,
        'message': None,
        'version': None,
        'previous_status': None,
    }


def represent(name: str, handler: type[ResourceHandler]) -> dict[str, Any]:
    """Return what a type declares."""
    return {
        'resource_type': name,
        'properties': {
            key: _property(declared) for key, declared in handler.properties.items()
        },
        'attributes': {
            key: {'description': text} for key, text in handler.attributes.items()
        },
        'support_status': support(),
    }


def template(name: str, handler: type[ResourceHandler]) -> dict[str, Any]:
    """Return a template of one resource of a type, with parameters for it."""
    resource = name.rpartition('::')[2]
    properties = handler.properties
    found: dict[str, Any] = {
        versions.KEY: versions.NEWEST,
        'description': f'Initial template of {resource}',
    }
    if properties:
        found['parameters'] = {
            key: _parameter(declared) for key, declared in properties.items()
        }
    found['resources'] = {
        resource: {
            'type': name,
            'properties': {key: {'get_param': key} for key in properties},
        }
    }
    if handler.attributes:
        found['outputs'] = {
            key: {'description': text, 'value': {'get_attr': [resource, key]}}
            for key, text in handler.attributes.items()
        }
    return found


def _parameter(declared: Property) -> dict[str, Any]:
    shown: dict[str, Any] = {'type': _parameter_type(declared.schema)}
    if declared.description:
        shown['description'] = declared.description
    if 'default' in declared.schema:
        shown['default'] = declared.schema['default']
    rules = _constraints(declared.schema)
    if rules and shown['type'] in ('string', 'number'):
        shown['constraints'] = rules
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
        return _TYPES.get(known[0], 'any')
    values = schema.get('enum', ())
    return 'string' if values and all(isinstance(v, str) for v in values) else 'any'


def _parameter_type(schema: Mapping[str, Any]) -> str:
    """Return the type of a parameter that can be handed over as a property."""
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
