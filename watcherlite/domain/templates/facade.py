"""The facade of a nested stack: the parts of the resource that it is.

A reserved section of the environment of the nested stack contains it, if the template
of the stack uses it: the definition of the stack then changes with the resource.
"""

from collections.abc import Mapping
from typing import Any

#: The function of HOT, and the section of the environment.
KEY = 'resource_facade'
#: The function of templates of AWS.
CFN_KEY = 'Fn::ResourceFacade'
METADATA, DELETION_POLICY, UPDATE_POLICY = PARTS = (
    'metadata',
    'deletion_policy',
    'update_policy',
)

Facade = Mapping[str, Any]


def is_used(template: Mapping[str, Any]) -> bool:
    """Return whether a parsed template, which may be invalid, calls the function."""
    todo: list[Any] = [template]
    while todo:
        here = todo.pop()
        if isinstance(here, Mapping):
            if len(here) == 1 and not here.keys().isdisjoint((KEY, CFN_KEY)):
                return True
            todo += here.values()
        elif isinstance(here, list | tuple):
            todo += here
    return False


def separate(environment: Mapping[str, Any]) -> tuple[dict[str, Any], Facade | None]:
    """Return the environment that users know, and the facade; None: there is none."""
    found = dict(environment)
    return found, found.pop(KEY, None)
