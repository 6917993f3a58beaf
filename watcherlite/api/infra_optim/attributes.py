"""Attributes of objects as requests give them: patched, and parsed."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import arguments
from watcherlite.api.arguments import Checker
from watcherlite.api.infra_optim import patches
from watcherlite.api.operation import Schema


def checker(schemas: Mapping[str, Schema]) -> Checker:
    """Return what checks values of some attributes, each by its schema."""
    return Checker({'type': 'object', 'properties': dict(schemas)})


def patched(
    document: Mapping[str, Any],
    changes: Sequence[patches.Change],
    check: Checker,
    empty: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the attributes that a patch names, with their new values.

    One that is named and keeps its value is returned too: whether a state may be
    set again is for the state machine to say.

    :param document: every attribute that may be changed
    :param check: as `checker` returns it
    :param empty: what removes an attribute, and what null stands for; without an
        entry that is None
    :raises Invalid: what is to be replaced is not there, or a value does not fit
    """
    changed = patches.apply(document, changes)
    named = dict.fromkeys(change.name for change in changes)
    given = check.body({name: changed[name] for name in named if name in changed})
    return {
        name: empty.get(name) if given.get(name) is None else given[name]
        for name in named
    }


def moment(name: str, text: str | None) -> datetime.datetime | None:
    """Return a time that a user wrote: ISO 8601, in UTC unless it has an offset.

    :raises Invalid: it is none
    """
    if text is None:
        return None
    try:
        time = datetime.datetime.fromisoformat(text)
        if time.tzinfo is None:
            time = time.replace(tzinfo=datetime.UTC)
        return time.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise exceptions.Invalid(
            f"Invalid input for field/attribute {name}. Value: '{text[:120]}'. It must "
            'be a time by ISO 8601, such as 2030-01-31T23:59:00'
        ) from None


def uuid(name: str, text: str) -> str:
    """Return a uuid as it is stored, in lower case; Invalid if the text is none.

    :param name: of the argument, for the text of the refusal
    """
    if not arguments.is_uuid(text):
        raise exceptions.Invalid(
            f"Invalid input for field/attribute {name}. Value: '{text}'. unable to "
            f'convert to uuid. Error: Expected a uuid but received {text}'
        )
    return text.lower()
