"""One hierarchy of errors; the docstring of a class begins with its default message.

The text of an error is for users: what was wrong, with which object, and what would be
valid. `domain.outcomes.public_text` decides which texts may leave the process: those of
watcherlite do; others may contain secrets, and do not.
"""


def _first_paragraph(text: str | None) -> str:
    """Return the first paragraph of a docstring as one line."""
    return ' '.join((text or '').strip().partition('\n\n')[0].split())


class WatcherliteError(Exception):
    """The operation failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or _first_paragraph(type(self).__doc__))


# Invalid requests


class Invalid(WatcherliteError):
    """The request is not valid."""


class InvalidDocument(Invalid):
    """The plan document is not valid.

    `problems` lists every problem found, each beginning with its place.
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = list(problems)
        super().__init__('; '.join(self.problems))


class InvalidInput(Invalid):
    """The inputs do not match the schema of the action type."""


class StackValidationFailed(Invalid):
    """The definition of the stack is not valid.

    `problems` lists every problem found, each beginning with its place.
    """

    def __init__(self, problems: list[str] | str) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__('; '.join(self.problems))


class TemplateInvalid(StackValidationFailed):
    """The template is not valid."""


class CircularDependency(StackValidationFailed):
    """The dependencies of the resources form a cycle."""


class UnknownUserParameter(StackValidationFailed):
    """The template does not define this parameter."""


class UserParameterMissing(StackValidationFailed):
    """A required parameter of the template is missing."""


class RequestLimitExceeded(Invalid):
    """The request exceeds a limit."""


class ImmutableParameterModified(Invalid):
    """An immutable parameter has another value."""


class NotSupported(Invalid):
    """The operation is not supported in the state of the object."""


class ResourceActionNotSupported(Invalid):
    """The resource type does not support this operation."""


class InvalidBreakPointHook(Invalid):
    """The resource does not wait at this hook."""


class PhysicalResourceIDAmbiguity(Invalid):
    """Several resources have this physical id; use the name of the resource."""


class Ambiguous(Invalid):
    """Several objects have this name; use the uuid.

    `uuids` lists them, or the first of them.
    """

    def __init__(self, name: str, uuids: list[str]) -> None:
        self.uuids = list(uuids)
        super().__init__(
            f"Multiple results found matching the query criteria '{name}'. Please be "
            f'more specific: {", ".join(uuids)}.'
        )


class VersionTooEarly(Invalid):
    """The requested version of the API does not have this operation."""


class NotFound(WatcherliteError):
    """The object could not be found."""


class StackNotFound(NotFound):
    """The stack could not be found."""


class ResourceNotFound(NotFound):
    """The resource could not be found in the stack."""


class Conflict(WatcherliteError):
    """The state of the object does not allow this operation."""


class StackExists(Conflict):
    """A stack with this name exists already."""


class ActionInProgress(Conflict):
    """Another operation on the object is in progress."""


class OutOfDate(Conflict):
    """The object was changed by another request since it was read; try again."""


class TransitionNotAllowed(Conflict):
    """The state machine does not allow this transition."""


class Unauthorized(WatcherliteError):
    """The request is not authenticated, or its credentials are not valid."""


class Forbidden(WatcherliteError):
    """The caller is not authorized for this operation."""


class NotAcceptable(WatcherliteError):
    """The requested version or format is not available."""


class NoSuchVersion(NotAcceptable):
    """The API does not have this version."""


# Rejected requests on clusters, under the names that clients know


class BadRequest(Invalid):
    """The request is not valid for these objects."""


class InvalidSpec(Invalid):
    """The spec does not match its type."""


class PolicyBindingNotFound(NotFound):
    """The policy is not attached to the cluster."""


class ResourceIsLocked(Conflict):
    """An action on the object is in progress."""


class ActionConflict(Conflict):
    """Another action on the object must end first."""


class ActionCooldown(Conflict):
    """The cooldown of a policy of the cluster is in effect."""


class ActionImmutable(Conflict):
    """The status of the action does not allow this operation."""


class FeatureNotSupported(Conflict):
    """The object does not support this operation in its status."""


class NodeNotOrphan(Conflict):
    """The node belongs to a cluster."""


class ResourceInUse(Conflict):
    """The object is still in use."""


class OverQuota(Forbidden):
    """The quota of the project is exhausted."""


# Exceptions of plugins


class ActionSkipException(WatcherliteError):
    """The action does not apply to the state of its target.

    Raised by `ActionType.pre_condition`; its text becomes the second half of
    the action's status message (spec 000).
    """

    DEFAULT = 'The action does not apply to the state that its target is in.'

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.DEFAULT)


#: The name that shipped Watcher plugins import.
ActionSkipped = ActionSkipException


class StateUnknown(WatcherliteError):
    """The check could not determine the state of the object.

    Raised by `ResourceHandler.check` and `poll`: the object keeps the status that it
    has, and its text says why it is not known.
    """


class Cancelled(BaseException):
    """The action was cancelled.

    Raised inside a plugin by `context.checkpoint()` and `context.sleep()`. Not
    an `Exception`, so that a plugin's own `except Exception` lets it through.
    """


class TimedOut(BaseException):
    """The action ran longer than its timeout.

    Raised inside a plugin like `Cancelled`, and for the same reason not an
    `Exception`.
    """


# Failures of the environment


class ConfigurationError(WatcherliteError):
    """The value of an option is not valid."""


class PluginError(WatcherliteError):
    """The plugin could not be loaded."""


class PluginNotFound(PluginError):
    """No plugin with this name is installed."""


class StoreUnavailable(WatcherliteError):
    """The database cannot be reached."""


class CommitOutcomeUnknown(StoreUnavailable):
    """The database did not answer a COMMIT; its outcome is unknown."""


class OutcomeUnknown(WatcherliteError):
    """The outcome of the request is unknown; check before repeating it."""


class RequestKeyTaken(WatcherliteError):
    """Another request has stored this idempotency key at the same time."""


class RequestKeyReused(WatcherliteError):
    """The idempotency key belongs to a request that asked for something else."""


class RequestDone(Conflict):
    """The request was carried out before, and its answer cannot be given again."""


class KeyMissing(StoreUnavailable):
    """The database contains secrets for which this host has no key."""


class StoreConflict(WatcherliteError):
    """The database refused a transaction, which can be retried."""


class SchemaMismatch(WatcherliteError):
    """This version does not support the schema of the database."""


class BrokerUnavailable(WatcherliteError):
    """The message broker cannot be reached."""


class ApiUnavailable(WatcherliteError):
    """The API cannot be reached, or cannot respond."""


class ServiceUnavailable(WatcherliteError):
    """A service of the cloud is not available; the call can be repeated later."""


class LeaseLost(WatcherliteError):
    """The lease of this worker has expired; others may own its actions."""
