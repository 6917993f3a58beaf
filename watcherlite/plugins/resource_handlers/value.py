"""A value that a template names once and uses in many places."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.documents import json_values
from watcherlite.domain.resource_results import Property, Ready
from watcherlite.plugins import properties
from watcherlite.plugins.base import ResourceContext, ResourceHandler

#: type of the template -> type of JSON
TYPES: Mapping[str, str] = {
    'string': 'string',
    'number': 'number',
    'boolean': 'boolean',
    'json': 'object',
    'comma_delimited_list': 'array',
}


class Value(ResourceHandler):
    """Store a value of a declared type."""

    description = 'A value that other parts of the template can refer to.'
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'value': Property({}, 'The value: anything.', required=True, updatable=True),
        'type': Property(
            {'enum': list(TYPES)},
            'The type to which the value is converted; the default is no conversion.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {'value': 'The value.'}

    def validate(self, properties: Mapping[str, Any]) -> None:
        if properties.get('value') is not None:
            _typed(properties)

    def create(self, context: ResourceContext) -> Ready:
        attributes = {'value': _typed(context.properties)}
        return Ready(physical_id=context.physical_name, attributes=attributes)

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def update(self, context: ResourceContext) -> Ready:
        return Ready(attributes={'value': _typed(context.properties)})

    def delete(self, context: ResourceContext) -> None:
        """Do nothing."""


def _typed(given: Mapping[str, Any]) -> Any:
    value, kind = given['value'], given.get('type')
    if kind is None or value is None:
        return value
    made = value
    if kind == 'comma_delimited_list' and isinstance(value, str):
        made = [part.strip() for part in value.split(',')] if value else []
    elif kind == 'json':
        made = _parse(value)
        if isinstance(made, list | tuple):
            return made
    elif kind == 'string' and isinstance(value, Mapping | list | tuple):
        made = json.dumps(value)
    else:
        made = properties.converted(value, TYPES[kind])
    if not properties.is_of(made, TYPES[kind]):
        raise exceptions.StackValidationFailed(
            f'{properties.PLACE}.value: is not of the type {kind}'
        )
    return made


def _parse(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return value if any(json_values.problems(found)) else found
