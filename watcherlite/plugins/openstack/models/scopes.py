"""The parts of a scope, and the names in them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

EVERYTHING = '*'


def rules(scope: Sequence[Any], kind: str) -> Sequence[Mapping[str, Any]]:
    """Return the rules of a scope for a kind of model; the first part applies."""
    for part in scope:
        if part.get(kind):
            found: Sequence[Mapping[str, Any]] = part[kind]
            return found
    return ()


def named(objects: Iterable[Mapping[str, Any]], key: str = 'name') -> frozenset[str]:
    """Return the names, or the values of another key, of the objects of a rule."""
    return frozenset(str(one[key]) for one in objects if key in one)


def is_among(value: object, names: Collection[str]) -> bool:
    """Return whether a value is named, or all values are."""
    return EVERYTHING in names or str(value) in names


def excluded(
    part: Sequence[Mapping[str, Any]], kind: str
) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a kind that the rules exclude."""
    return [
        one
        for rule in part
        for left_out in rule.get('exclude', ())
        for one in left_out.get(kind, ())
    ]
