"""What the resource handlers of watcherlite raise."""

from watcherlite import exceptions


class ResourceFault(exceptions.WatcherliteError):
    """The resource is not as it should be, or cannot be made so."""
