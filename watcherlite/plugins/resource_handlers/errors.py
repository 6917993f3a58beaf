"""The error that built-in resource handlers raise."""

from watcherlite import exceptions


class ResourceFault(exceptions.WatcherliteError):
    """A resource has not the expected state, or cannot get it."""
