"""Fragments of the schemas of policies."""

from collections.abc import Mapping
from typing import Any

#: Maximum delay by a policy, in seconds: a year.
LONGEST = 365 * 86400


def closed(
    properties: Mapping[str, Any], *required: str, **more: Any
) -> dict[str, Any]:
    """Return the schema of an object without other properties."""
    names = {'required': list(required)} if required else {}
    kind = {'type': 'object', 'properties': dict(properties)}
    return {**kind, **names, 'additionalProperties': False, **more}


def flag(default: bool, description: str) -> dict[str, Any]:
    """Return the schema of a boolean."""
    return {'type': 'boolean', 'default': default, 'description': description}


def text(description: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a string."""
    return {'type': 'string', **more, 'description': description}


def choice(values: list[str], description: str, **more: Any) -> dict[str, Any]:
    """Return the schema of one of these values."""
    return {'enum': values, **more, 'description': description}


def integer(
    default: int, description: str, minimum: int = 0, maximum: int | None = None
) -> dict[str, Any]:
    """Return the schema of a whole number."""
    limits = {'minimum': minimum, 'maximum': maximum}
    return {
        'type': 'integer',
        **{name: limit for name, limit in limits.items() if limit is not None},
        'default': default,
        'description': description,
    }


def seconds(default: int, description: str, minimum: int = 0) -> dict[str, Any]:
    """Return the schema of a delay or timeout."""
    return integer(default, description, minimum, LONGEST)
