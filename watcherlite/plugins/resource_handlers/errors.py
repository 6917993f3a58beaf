"""The error that built-in resource handlers raise."""

from watcherlite import exceptions


class ResourceFault(exceptions.WatcherliteError):
    """A resource does not have the expected state, or cannot reach it."""
