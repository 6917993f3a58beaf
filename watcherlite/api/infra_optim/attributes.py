"""Attributes of objects in requests: parsing and patching."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import arguments
from watcherlite.api.arguments import Checker
from watcherlite.api.infra_optim import patches
from watcherlite.api.operation import Schema


def checker(schemas: Mapping[str, Schema]) -> Checker:
    """Return a validator of attributes by their schemas."""
    return Checker({'type': 'object', 'properties': dict(schemas)})


def patched(
    document: Mapping[str, Any],
    changes: Sequence[patches.Change],
    check: Checker,
    empty: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the patched attributes with their new values.

    This includes unchanged values: the state machine decides whether a state may be set
    again.

    :param document: the attributes that may be changed
    :param check: from `checker`
    :param empty: attribute -> the value that null or a removal sets; default: None
    :raises Invalid: the patch does not apply, or a value is invalid
    """
    changed = patches.apply(document, changes)
    named = dict.fromkeys(change.name for change in changes)
    given = check.body({name: changed[name] for name in named if name in changed})
    return {
        name: empty.get(name) if given.get(name) is None else given[name]
        for name in named
    }


def uuid(name: str, text: str) -> str:
    """Return a uuid in lower case; Invalid if the text is not a uuid.

    :param name: the name of the argument, for the error
    """
    if not arguments.is_uuid(text):
        raise exceptions.Invalid(
            f"Invalid input for field/attribute {name}. Value: '{text}'. unable to "
            f'convert to uuid. Error: Expected a uuid but received {text}'
        )
    return text.lower()
