"""Schema fragments of the infra-optim API."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema

UUID: Schema = {'type': 'string', 'format': 'uuid'}
UUID_OR_NULL: Schema = {'type': ['string', 'null'], 'format': 'uuid'}
TEXT: Schema = {'type': 'string'}
TEXT_OR_NULL: Schema = {'type': ['string', 'null']}
BOOLEAN: Schema = {'type': 'boolean'}
OBJECT: Schema = {'type': 'object'}
TIME: Schema = {
    'type': ['string', 'null'],
    'format': 'date-time',
    'description': 'A time with its offset: 2026-11-20T15:52:42.614603+00:00',
}
NAIVE_TIME: Schema = {
    'type': ['string', 'null'],
    'description': 'A time in UTC without offset: 2026-11-20T15:52:42.614603',
}
LINKS: Schema = {
    'type': 'array',
    'items': {
        'type': 'object',
        'properties': {
            'href': {'type': 'string', 'format': 'uri'},
            'rel': {'type': 'string', 'enum': ['self', 'bookmark']},
        },
        'required': ['href', 'rel'],
        'additionalProperties': False,
    },
}
#: The members of `api.timestamps.of`.
TIMESTAMPS: Mapping[str, Schema] = {
    'created_at': TIME,
    'updated_at': TIME,
    'deleted_at': TIME,
}


def closed(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object with these members and no others."""
    return {
        'type': 'object',
        'properties': dict(properties),
        'required': list(properties),
        'additionalProperties': False,
    }


def collection(noun: str, one: Schema) -> Schema:
    """Return the schema of a page: the rows under the noun, and perhaps `next`."""
    return {
        'type': 'object',
        'properties': {
            noun: {'type': 'array', 'items': one},
            'next': {
                'type': 'string',
                'format': 'uri',
                'description': 'The next page, if there is one.',
            },
        },
        'required': [noun],
        'additionalProperties': False,
    }
