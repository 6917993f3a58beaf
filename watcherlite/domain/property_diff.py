"""The difference between old and new properties of a resource."""

from collections.abc import Mapping
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.resource_results import KEEP, REPLACE, UPDATE, Property


class Declared(Protocol):
    """A resource handler, as far as this looks at it."""

    @property
    def properties(self) -> Mapping[str, Property]: ...

    @property
    def accepts_any(self) -> bool: ...

    @property
    def replaces_failed(self) -> bool: ...


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names of the properties that differ, sorted."""
    return sorted(
        name
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    )


def decide(
    handler: Declared,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    failed: bool,
) -> str:
    """Return KEEP, UPDATE or REPLACE.

    A FAILED resource is replaced (spec 002), unless its type repairs in place: then
    it is updated even if nothing has changed.

    :raises Invalid: an immutable property has another value
    """
    declared = handler.properties
    names = [
        name
        for name in changed(before, after)
        if name in declared or not handler.accepts_any
    ]
    fixed = [name for name in names if name in declared and declared[name].immutable]
    if fixed:
        raise exceptions.Invalid(
            f'The properties {", ".join(fixed)} cannot be changed any more'
        )
    if failed and handler.replaces_failed:
        return REPLACE
    in_place = all(name in declared and declared[name].updatable for name in names)
    if names and not in_place:
        return REPLACE
    return UPDATE if names or failed else KEEP
