"""Schema fragments of the orchestration API."""

from collections.abc import Mapping

from watcherlite.api import fragments
from watcherlite.api.operation import Schema, Versioned, unversioned

TEXT = fragments.TEXT
TEXT_OR_NULL = fragments.TEXT_OR_NULL
BOOLEAN = fragments.BOOLEAN
INTEGER = fragments.INTEGER
OBJECT = fragments.OBJECT
ANYTHING = fragments.ANYTHING
NULL = fragments.NULL
TEXTS = fragments.TEXTS
SEVERAL = fragments.SEVERAL
TIME = fragments.TIME
LINKS = fragments.links('self', 'stack', 'nested', 'resource', 'root_stack', 'next')
closed = fragments.closed
under = fragments.under
listed = fragments.listed


def arguments(properties: Mapping[str, Schema]) -> Versioned:
    """Return the schema of the arguments of a URL; others are ignored."""
    return unversioned({'type': 'object', 'properties': dict(properties)})


#: The schema of operations without arguments: clients of Heat may send some.
ANY_ARGUMENTS: Versioned = arguments({})
