"""The properties of resource types of OpenStack, and how they are sent."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.resource_results import Property
from watcherlite.plugins.openstack.resources.references import Reference

#: The type sends the property itself.
OWN = ''

TEXT: Mapping[str, Any] = {'type': 'string'}
FLAG: Mapping[str, Any] = {'type': 'boolean'}
INTEGER: Mapping[str, Any] = {'type': 'integer'}
NUMBER: Mapping[str, Any] = {'type': 'number'}
MAP: Mapping[str, Any] = {'type': 'object'}
TEXTS: Mapping[str, Any] = {'type': 'array', 'items': TEXT}
ID_PATTERN = (
    '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
)
#: The value that is sent if a property was removed, by its type.
_EMPTY: Mapping[str, Any] = {'array': [], 'object': {}, 'string': ''}


@dataclasses.dataclass(frozen=True, slots=True)
class Field(Property):
    """A property that is sent to a service.

    :param sent: the attribute in the request; None: that of the same name; OWN: the
        resource type sends it
    :param reference: its value is a name or an id of another object, or a list of them
    """

    sent: str | None = None
    reference: Reference | None = None

    def removed(self) -> Any:
        """Return the value that is sent if the property was removed."""
        kind = self.schema.get('type')
        if self.reference is not None and kind != 'array':
            return None
        return _EMPTY.get(kind) if isinstance(kind, str) else None


def field(
    schema: Mapping[str, Any],
    description: str,
    *,
    default: Any = None,
    required: bool = False,
    updatable: bool = False,
    immutable: bool = False,
    sent: str | None = None,
    reference: Reference | None = None,
) -> Field:
    """Return a property; see `Property` and `Field`.

    :param default: None: there is none
    """
    whole = dict(schema) if default is None else {**schema, 'default': default}
    return Field(whole, description, required, updatable, immutable, sent, reference)


def one_of(*values: Any) -> dict[str, Any]:
    """Return the schema of a text that is one of the values."""
    return {'type': 'string', 'enum': list(values)}


def items(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {'type': 'array', 'items': dict(schema)}


def mapping(
    properties: Mapping[str, Mapping[str, Any]], required: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the schema of a mapping with these keys only."""
    return {
        'type': 'object',
        'properties': {name: dict(schema) for name, schema in properties.items()},
        'required': list(required),
        'additionalProperties': False,
    }
