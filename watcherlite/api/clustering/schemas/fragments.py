"""Schema fragments of the clustering API."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.api import fragments, search
from watcherlite.api.clustering.versions import SEARCH
from watcherlite.api.operation import Schema, Versioned, unversioned
from watcherlite.db.clusters import TIMED

TEXT = fragments.TEXT
TEXT_OR_NULL = fragments.TEXT_OR_NULL
BOOLEAN = fragments.BOOLEAN
INTEGER = fragments.INTEGER
OBJECT = fragments.OBJECT
ANYTHING = fragments.ANYTHING
TEXTS = fragments.TEXTS
SEVERAL = fragments.SEVERAL
TIME = fragments.TIME
NULL = fragments.NULL
closed = fragments.closed
under = fragments.under

NAME: Schema = {'type': 'string', 'description': '1 to 255 letters, digits and . _ ~ -'}
#: An integer, which clients may send as text.
NUMBER: Schema = {'type': ['integer', 'string'], 'pattern': '^[+-]?[0-9]{1,12}$'}
NUMBER_OR_NULL: Schema = {**NUMBER, 'type': ['integer', 'string', 'null']}
#: A boolean, which clients may send as text.
FLAG: Schema = {
    'type': ['boolean', 'string'],
    'pattern': '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$',
}
FLAG_OR_NULL: Schema = {**FLAG, 'type': ['boolean', 'string', 'null']}
OBJECT_OR_NULL: Schema = {'type': ['object', 'null']}
SPEC: Schema = {
    'type': 'object',
    'description': 'type, version and properties; a type may also be written with its '
    'version: local.process-1.0.',
}
#: An existing object: uuid, name or short id.
REFERENCE: Schema = {'type': 'string', 'minLength': 1}
#: Nullable: clients send null for unchanged members.
NAME_OR_NULL: Schema = {**NAME, 'type': ['string', 'null']}
REFERENCE_OR_NULL: Schema = {**REFERENCE, 'type': ['string', 'null']}
SEVERAL_OBJECTS: Schema = {'type': 'array', 'items': REFERENCE}

WAIT: Mapping[str, Schema] = {
    'wait': {
        'type': 'boolean',
        'description': 'Queue behind the running action of the target instead of '
        'failing with a conflict.',
    }
}
NOT_BEFORE: Mapping[str, Schema] = {
    'not_before': {
        'type': 'string',
        'maxLength': 64,
        'description': 'The earliest start of the action, in ISO 8601; in UTC unless '
        'it has an offset.',
    }
}
LISTED: Mapping[str, Schema] = {
    'limit': {
        'type': 'integer',
        'minimum': 0,
        'description': 'The maximum number of rows; 0: none.',
    },
    'marker': {
        'type': 'string',
        'format': 'uuid',
        'description': 'The id of the row before the page.',
    },
    'sort': {
        'type': 'string',
        'description': 'Keys separated by commas, each with :asc or :desc behind it.',
    },
    'global_project': {
        'type': 'boolean',
        'description': 'Whether those of all projects are listed.',
    },
}
LINKS = fragments.links('next')


def arguments(properties: Mapping[str, Schema], title: str | None = None) -> Schema:
    """Return the schema of the arguments of a URL."""
    named = {} if title is None else {'title': title}
    return {
        **named,
        'type': 'object',
        'properties': dict(properties),
        'additionalProperties': False,
    }


#: The error responses of operations that start an action.
QUEUED_OR_SCHEDULED: Versioned = {
    (1, 0): arguments({}),
    (1, 15): arguments({**WAIT, **NOT_BEFORE}),
}
#: The same without a conflict.
SCHEDULED: Versioned = {(1, 0): arguments({}), (1, 15): arguments(NOT_BEFORE)}
#: The same with the time in the body.
QUEUED: Versioned = unversioned(arguments(WAIT))


def filters(*names: str) -> dict[str, Schema]:
    """Return filters that may be repeated."""
    return dict.fromkeys(names, SEVERAL)


def one_of(values: Sequence[str]) -> Schema:
    """Return a filter for one of some values, which may be repeated."""
    return {'type': 'array', 'items': {'type': 'string', 'enum': list(values)}}


def list_arguments(
    properties: Mapping[str, Schema], title: str | None = None
) -> dict[str, Any]:
    """Return the schema of the arguments of a list with these filters."""
    return dict(arguments({**LISTED, **properties}, title))


def searched_list(
    kind: type, properties: Mapping[str, Schema], title: str | None = None
) -> Versioned:
    """Return the schemas of the arguments of a list of a class that has a search."""
    searched = {**properties, **search.schemas(TIMED[kind])}
    return {
        (1, 0): list_arguments(properties, title),
        SEARCH: list_arguments(searched, title),
    }


def object_with(members: Mapping[str, Schema], *required: str) -> Schema:
    """Return the schema of an object with required members."""
    return {
        'type': 'object',
        'properties': dict(members),
        'required': list(required),
        'additionalProperties': False,
    }


def wrapped(name: str, members: Mapping[str, Schema], *required: str) -> Schema:
    """Return the schema of a body with one object in a member."""
    return {
        'type': 'object',
        'properties': {name: object_with(members, *required)},
        'required': [name],
    }


def page(noun: str, one: Schema) -> Schema:
    """Return the schema of a page of a list."""
    return closed({noun: {'type': 'array', 'items': one}}, {'links': LINKS})


#: The response of a request that starts an action.
ACTION: Versioned = under('action', TEXT)
#: The owner of an object.
OWNED: Mapping[str, Schema] = {
    'user': TEXT_OR_NULL,
    'project': TEXT,
    'domain': TEXT_OR_NULL,
}
