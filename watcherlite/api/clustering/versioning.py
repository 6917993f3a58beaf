"""What there is only from some version on, and how its absence is told."""

from typing import Any

from watcherlite.api.operation import Version

#: What clients of an earlier version are told.
TOO_EARLY = "API version '{version}' is not supported on this method."


def since(version: Version) -> dict[str, Any]:
    """Return what of an operation says that it is there from a version on."""
    return {'since': version, 'too_early': 400, 'too_early_text': TOO_EARLY}
