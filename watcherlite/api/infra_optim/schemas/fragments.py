"""Schema fragments of the infra-optim API."""

from collections.abc import Mapping

from watcherlite.api.fragments import BOOLEAN, OBJECT, TEXT, TEXT_OR_NULL, closed, links
from watcherlite.api.operation import Schema, Version, Versioned, unversioned

__all__ = ['BOOLEAN', 'OBJECT', 'TEXT', 'TEXT_OR_NULL', 'closed']

UUID: Schema = {'type': 'string', 'format': 'uuid'}
UUID_OR_NULL: Schema = {'type': ['string', 'null'], 'format': 'uuid'}
TIME: Schema = {
    'type': ['string', 'null'],
    'format': 'date-time',
    'description': 'A time with its offset: 2026-11-20T15:52:42.614603+00:00',
}
NAIVE_TIME: Schema = {
    'type': ['string', 'null'],
    'description': 'A time in UTC without offset: 2026-11-20T15:52:42.614603',
}
LINKS: Schema = links('self', 'bookmark')
#: The members of `api.timestamps.of`.
TIMESTAMPS: Mapping[str, Schema] = {
    'created_at': TIME,
    'updated_at': TIME,
    'deleted_at': TIME,
}


def collection(noun: str, one: Schema) -> Schema:
    """Return the schema of a page: the rows in the member `noun`, and `next`."""
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


def views(
    noun: str,
    listed: Mapping[str, Schema],
    detailed: Mapping[Version, Mapping[str, Schema]],
) -> tuple[Versioned, Versioned, Versioned]:
    """Return the schemas of one object, of a page, and of a page with details.

    :param detailed: the microversion that introduced members -> their schemas
    """
    ones = {since: closed(members) for since, members in detailed.items()}
    return (
        ones,
        unversioned(collection(noun, closed(listed))),
        {since: collection(noun, one) for since, one in ones.items()},
    )
