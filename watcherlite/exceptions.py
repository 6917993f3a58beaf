"""One hierarchy of errors; the docstring of a class begins with its default message.

The text of an error is for users: what was wrong, with which object, and what would be
valid. `domain.outcomes.public_text` decides which texts may leave the process: those of
watcherlite do; others may contain secrets, and do not.
"""


def _first_paragraph(text: str | None) -> str:
    """Return the first paragraph of a docstring as one line."""
    return ' '.join((text or '').strip().partition('\n\n')[0].split())


class WatcherliteError(Exception):
    """watcherlite could not do what was asked."""

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
    """The inputs do not fit the schema of the action type."""


class StackValidationFailed(Invalid):
    """The stack cannot be made of this.

    `problems` lists every problem found, each beginning with its place.
    """

    def __init__(self, problems: list[str] | str) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__('; '.join(self.problems))


class TemplateInvalid(StackValidationFailed):
    """The template is not valid."""


class CircularDependency(StackValidationFailed):
    """Resources depend on each other in a circle."""


class UnknownUserParameter(StackValidationFailed):
    """The template has no such parameter."""


class UserParameterMissing(StackValidationFailed):
    """The template needs a parameter that was not given."""


class RequestLimitExceeded(Invalid):
    """The request asks for more than there may be."""


class ImmutableParameterModified(Invalid):
    """A parameter that must never change has another value."""


class NotSupported(Invalid):
    """This makes no sense for an object in this state."""


class ResourceActionNotSupported(Invalid):
    """The type of the resource does not do this."""


class PhysicalResourceIDAmbiguity(Invalid):
    """Several resources have this physical id; name the one that is meant."""


class Ambiguous(Invalid):
    """Several objects are meant by this name; say which by its uuid.

    `uuids` lists them, or the first of them.
    """

    def __init__(self, name: str, uuids: list[str]) -> None:
        self.uuids = list(uuids)
        super().__init__(
            f"Multiple results found matching the query criteria '{name}'. Please be "
            f'more specific: {", ".join(uuids)}.'
        )


class VersionTooEarly(Invalid):
    """The version of the API that was asked for does not have this."""


class NotFound(WatcherliteError):
    """There is no such object."""


class StackNotFound(NotFound):
    """There is no such stack."""


class ResourceNotFound(NotFound):
    """The stack has no such resource."""


class Conflict(WatcherliteError):
    """The object is in a state that does not allow this."""


class StackExists(Conflict):
    """There is a stack of that name."""


class ActionInProgress(Conflict):
    """Something else is done with the object at this moment."""


class OutOfDate(Conflict):
    """The object was changed by another request since it was read; try again."""


class TransitionNotAllowed(Conflict):
    """The state machine has no such transition."""


class Unauthorized(WatcherliteError):
    """The request does not say who makes it, or not so that it could be believed."""


class Forbidden(WatcherliteError):
    """The caller may not do this."""


class NotAcceptable(WatcherliteError):
    """The request asks for a version or a form that there is not."""


class NoSuchVersion(NotAcceptable):
    """The API has no such version."""


# Rejected requests on clusters, under the names that clients know


class BadRequest(Invalid):
    """The request makes no sense for these objects."""


class InvalidSpec(Invalid):
    """The spec does not fit its type."""


class PolicyBindingNotFound(NotFound):
    """The cluster is not bound to this policy."""


class ResourceIsLocked(Conflict):
    """An action on the object has begun and has not ended."""


class ActionConflict(Conflict):
    """Another action on the object is to be done first."""


class ActionCooldown(Conflict):
    """A policy wants the cluster to be left alone for a while."""


class ActionImmutable(Conflict):
    """The action is in a status that does not allow this."""


class FeatureNotSupported(Conflict):
    """The object does not support this in its status."""


class NodeNotOrphan(Conflict):
    """The node belongs to a cluster."""


class ResourceInUse(Conflict):
    """Something else still needs the object."""


class OverQuota(Forbidden):
    """The project has as many of these as it may have."""


# Exceptions of plugins


class ActionSkipException(WatcherliteError):
    """The action does not apply to the state that its target is in.

    Raised by `ActionType.pre_condition`; its text becomes the second half of
    the action's status message (spec 000).
    """

    DEFAULT = 'The action does not apply to the state that its target is in.'

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.DEFAULT)


#: The name that shipped Watcher plugins import.
ActionSkipped = ActionSkipException


class StateUnknown(WatcherliteError):
    """A check cannot tell how the object is, from where it was made.

    Raised by `ResourceHandler.check` and `poll`: the object keeps the status that it
    has, and its text says why it is not known.
    """


class Cancelled(BaseException):
    """The action was requested to stop.

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
    """An option has a value that cannot work."""


class PluginError(WatcherliteError):
    """A plugin could not be loaded."""


class PluginNotFound(PluginError):
    """No plugin of that name is installed."""


class StoreUnavailable(WatcherliteError):
    """The database cannot be reached."""


class CommitOutcomeUnknown(StoreUnavailable):
    """The database did not answer a COMMIT: it has taken effect, or not."""


class OutcomeUnknown(WatcherliteError):
    """The request may have been carried out: look before repeating it."""


class RequestKeyTaken(WatcherliteError):
    """Another request has stored this idempotency key at the same time."""


class RequestKeyReused(WatcherliteError):
    """The idempotency key belongs to a request that asked for something else."""


class RequestDone(Conflict):
    """The request was carried out before, and its answer cannot be given again."""


class KeyMissing(StoreUnavailable):
    """The database holds secrets for which this host has no key."""


class StoreConflict(WatcherliteError):
    """The database refused a transaction that can be tried again as a whole."""


class SchemaMismatch(WatcherliteError):
    """The database has a schema that this version does not work with."""


class BrokerUnavailable(WatcherliteError):
    """The message broker cannot be reached."""


class ApiUnavailable(WatcherliteError):
    """The API cannot be reached, or cannot answer now."""


class LeaseLost(WatcherliteError):
    """This worker's lease ran out, so that others may own its actions now."""
