"""The base of values that the store keeps as rows.

There are two types of each: `NewObject` is not stored yet, `Object` has the key of its
row as `id`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

Row = TypeVar('Row')
Stored = TypeVar('Stored', covariant=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Value:
    """A value that is copied to change it."""

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)


class NewRow(Protocol[Stored]):
    """A value that is not stored yet."""

    def stored(self, key: int) -> Stored:
        """Return the stored row of this value."""


def stored(value: Any, kind: Callable[..., Row], key: int) -> Row:
    """Return the stored row of a value."""
    fields = {
        field.name: getattr(value, field.name) for field in dataclasses.fields(value)
    }
    return kind(**(fields | {'id': key}))
