"""The properties of policies: defaults, validation and display."""

import copy
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.plugins import schemas
from watcherlite.plugins.base import Policy

#: The prefix of the paths of invalid properties.
PLACE = 'properties'

#: Type of a JSON schema -> its name for clients of clusters.
_TYPES: Mapping[str, str] = {
    'array': 'List',
    'boolean': 'Boolean',
    'integer': 'Integer',
    'number': 'Number',
    'object': 'Map',
    'string': 'String',
}


def fit(policy: Policy, given: Any) -> dict[str, Any]:
    """Return validated properties with the defaults of their schema.

    :raises InvalidSpec: names every offending property as a path
    :raises PluginError: the schema cannot be used
    """
    kind = type(policy)
    spec = {'type': 'object', **kind.schema}
    label = f'The schema of {kind.__module__}:{kind.__qualname__}'
    validator = schemas.validator_of(spec, label)
    filled = with_defaults(spec, copy.deepcopy(given))
    try:
        errors = schemas.first_errors(validator, filled)
    except RecursionError:
        raise exceptions.InvalidSpec(f'{PLACE}: nested too deeply') from None
    if errors:
        raise exceptions.InvalidSpec('; '.join(schemas.problems(errors, PLACE)))
    try:
        policy.validate(filled)
    except exceptions.InvalidSpec:
        raise
    except exceptions.Invalid as error:
        raise exceptions.InvalidSpec(str(error)) from error
    return dict(filled)


def with_defaults(spec: Any, value: Any) -> Any:
    """Fill in the defaults of objects, outer ones first, including those in lists."""
    if not isinstance(spec, Mapping):
        return value
    if isinstance(value, list):
        return [with_defaults(spec.get('items'), item) for item in value]
    if not isinstance(value, dict):
        return value
    for name, inner in (spec.get('properties') or {}).items():
        if not isinstance(inner, Mapping):
            continue
        if name not in value and 'default' in inner:
            value[name] = copy.deepcopy(inner['default'])
        if name in value:
            value[name] = with_defaults(inner, value[name])
    return value


def describe_schema(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a JSON schema in the format for clients of clusters."""
    required = spec.get('required') or ()
    return {
        name: _describe(inner, name in required)
        for name, inner in (spec.get('properties') or {}).items()
    }


def _describe(spec: Mapping[str, Any], required: bool) -> dict[str, Any]:
    kind = _kind(spec)
    shown: dict[str, Any] = {
        'description': spec.get('description', ''),
        'required': required,
        'type': kind,
        'updatable': False,
    }
    if 'default' in spec:
        shown['default'] = copy.deepcopy(spec['default'])
    if 'enum' in spec:
        shown['constraints'] = [
            {'type': 'AllowedValues', 'constraint': list(spec['enum'])}
        ]
    if kind == 'Map' and spec.get('properties'):
        shown['schema'] = describe_schema(spec)
    if kind == 'List' and isinstance(spec.get('items'), Mapping):
        shown['schema'] = {'*': _describe(spec['items'], False)}
    return shown


def _kind(spec: Mapping[str, Any]) -> str:
    kind = spec.get('type')
    if isinstance(kind, list):
        kind = next((one for one in kind if one != 'null'), None)
    if kind is None:
        values = spec.get('enum') or [spec.get('default', '')]
        kind = 'string' if isinstance(values[0], str) else 'object'
    return _TYPES.get(str(kind), 'String')
