"""Pieces that the schemas of several nouns are made of."""

from collections.abc import Mapping

from watcherlite.api import shapes
from watcherlite.api.operation import Schema, Versioned, always

TEXT = shapes.TEXT
TEXT_OR_NULL = shapes.TEXT_OR_NULL
BOOLEAN = shapes.BOOLEAN
INTEGER = shapes.INTEGER
OBJECT = shapes.OBJECT
ANYTHING = shapes.ANYTHING
NULL = shapes.NULL
TEXTS = shapes.TEXTS
SEVERAL = shapes.SEVERAL
TIME = shapes.TIME
LINKS = shapes.links('self', 'stack', 'nested', 'resource', 'root_stack', 'next')
whole = shapes.whole
under = shapes.under
listed = shapes.listed


def arguments(properties: Mapping[str, Schema]) -> Versioned:
    """Return the schema of the arguments of a URL; others are passed over."""
    return always({'type': 'object', 'properties': dict(properties)})
