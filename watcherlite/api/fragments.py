"""Schema fragments that the APIs share."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned, unversioned

TEXT: Schema = {'type': 'string'}
TEXT_OR_NULL: Schema = {'type': ['string', 'null']}
BOOLEAN: Schema = {'type': 'boolean'}
INTEGER: Schema = {'type': 'integer'}
OBJECT: Schema = {'type': 'object'}
ANYTHING: Schema = {}
NULL: Versioned = unversioned({'type': 'null'})
TEXTS: Schema = {'type': 'array', 'items': TEXT}
#: An argument that may be given several times.
SEVERAL: Schema = TEXTS
TIME: Schema = {
    'type': ['string', 'null'],
    'format': 'date-time',
    'description': 'A time in UTC: 2026-11-20T15:52:42Z',
}


def closed(
    properties: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None
) -> Schema:
    """Return the schema of an object with these members and no others.

    :param optional: members that are not required
    """
    return {
        'type': 'object',
        'properties': {**properties, **(optional or {})},
        'required': list(properties),
        'additionalProperties': False,
    }


def under(
    name: str, one: Schema, optional: Mapping[str, Schema] | None = None
) -> Versioned:
    """Return the schema of a response with one object under its name."""
    return unversioned(closed({name: one}, optional))


def listed(
    noun: str, one: Schema, optional: Mapping[str, Schema] | None = None
) -> Versioned:
    """Return the schema of a response with a list under its noun."""
    return under(noun, {'type': 'array', 'items': one}, optional)


def links(*relations: str) -> Schema:
    """Return the schema of a list of links."""
    return {
        'type': 'array',
        'items': closed(
            {
                'href': {'type': 'string', 'format': 'uri'},
                'rel': {'type': 'string', 'enum': list(relations)},
            }
        ),
    }
