"""Pieces that the schemas of several nouns are made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.api import shapes
from watcherlite.api.operation import Schema, Versioned, always

TEXT = shapes.TEXT
TEXT_OR_NULL = shapes.TEXT_OR_NULL
BOOLEAN = shapes.BOOLEAN
INTEGER = shapes.INTEGER
OBJECT = shapes.OBJECT
ANYTHING = shapes.ANYTHING
TEXTS = shapes.TEXTS
SEVERAL = shapes.SEVERAL
TIME = shapes.TIME
NULL = shapes.NULL
whole = shapes.whole
under = shapes.under

NAME: Schema = {
    'type': 'string',
    'description': '1 to 255 letters, digits and . _ ~ -',
}
#: A whole number, which clients may send as text.
NUMBER: Schema = {'type': ['integer', 'string'], 'pattern': '^[+-]?[0-9]{1,12}$'}
NUMBER_OR_NULL: Schema = {**NUMBER, 'type': ['integer', 'string', 'null']}
#: Likewise true or false.
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
#: An object that is there, by uuid, name or short id.
REFERENCE: Schema = {'type': 'string', 'minLength': 1}
#: Clients send null for what is not to change.
NAME_OR_NULL: Schema = {**NAME, 'type': ['string', 'null']}
REFERENCE_OR_NULL: Schema = {**REFERENCE, 'type': ['string', 'null']}
SEVERAL_OBJECTS: Schema = {'type': 'array', 'items': REFERENCE}

WAIT: Mapping[str, Schema] = {
    'wait': {
        'type': 'boolean',
        'description': 'Whether to queue behind what the target is busy with, instead '
        'of being refused.',
    }
}
LISTED: Mapping[str, Schema] = {
    'limit': {
        'type': 'integer',
        'minimum': 0,
        'description': 'Most rows of a page; 0: none.',
    },
    'marker': {
        'type': 'string',
        'format': 'uuid',
        'description': 'The page begins after the row of this id.',
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
LINKS = shapes.links('next')


def arguments(properties: Mapping[str, Schema], title: str | None = None) -> Schema:
    """Return the schema of the arguments of a URL; there are no others."""
    named = {} if title is None else {'title': title}
    return {
        **named,
        'type': 'object',
        'properties': dict(properties),
        'additionalProperties': False,
    }


NO_ARGUMENTS: Versioned = always(arguments({}))
#: Of what an action does.
ASKING: Versioned = {(1, 0): arguments({}), (1, 15): arguments(WAIT)}


def filters(*names: str) -> dict[str, Schema]:
    """Return arguments that may be given several times, each with a value wanted."""
    return dict.fromkeys(names, SEVERAL)


def chosen(values: Sequence[str]) -> Schema:
    """Return an argument that may be given several times, each one of these."""
    return {'type': 'array', 'items': {'type': 'string', 'enum': list(values)}}


def index(properties: Mapping[str, Schema], title: str | None = None) -> dict[str, Any]:
    """Return the schema of the arguments of a list with these filters."""
    return dict(arguments({**LISTED, **properties}, title))


def brought(name: str, members: Mapping[str, Schema], *required: str) -> Schema:
    """Return the schema of a body that has one object under its name."""
    return {
        'type': 'object',
        'properties': {
            name: {
                'type': 'object',
                'properties': dict(members),
                'required': list(required),
                'additionalProperties': False,
            }
        },
        'required': [name],
    }


def page(noun: str, one: Schema) -> Schema:
    """Return the schema of an answer that is a page of a list."""
    return whole({noun: {'type': 'array', 'items': one}}, {'links': LINKS})


#: What an action is asked for with is answered with.
ACTION: Versioned = under('action', TEXT)
#: Whose something is.
OWNED: Mapping[str, Schema] = {
    'user': TEXT_OR_NULL,
    'project': TEXT,
    'domain': TEXT_OR_NULL,
}
