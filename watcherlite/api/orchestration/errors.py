"""The format of errors in the orchestration API: that of Heat."""

from watcherlite import exceptions
from watcherlite.api.errors import TypedError

#: The types by which clients tell errors. The first class that fits counts.
_TYPES: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.UnknownUserParameter, 'UnknownUserParameter'),
    (exceptions.UserParameterMissing, 'UserParameterMissing'),
    (exceptions.CircularDependency, 'CircularDependencyException'),
    (exceptions.StackValidationFailed, 'StackValidationFailed'),
    (exceptions.RequestLimitExceeded, 'RequestLimitExceeded'),
    (exceptions.ImmutableParameterModified, 'ImmutableParameterModified'),
    (exceptions.NotSupported, 'NotSupported'),
    (exceptions.ResourceActionNotSupported, 'ResourceActionNotSupported'),
    (exceptions.PhysicalResourceIDAmbiguity, 'PhysicalResourceIDAmbiguity'),
    # A template names an unknown type.
    (exceptions.PluginNotFound, 'StackValidationFailed'),
    (exceptions.ResourceNotFound, 'ResourceNotFound'),
    (exceptions.StackNotFound, 'EntityNotFound'),
    (exceptions.NotFound, 'NotFound'),
    (exceptions.StackExists, 'StackExists'),
    (exceptions.ActionInProgress, 'ActionInProgress'),
    (exceptions.Conflict, 'Conflict'),
    (exceptions.Forbidden, 'Forbidden'),
)
ERROR_FORMAT = TypedError(
    _TYPES,
    {
        409: 'The request conflicts with the state of the stack.',
    },
    'StackExists, EntityNotFound, ActionInProgress',
    has_code=False,
)
