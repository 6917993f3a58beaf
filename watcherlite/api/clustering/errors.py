"""The format of errors in the clustering API: that of Senlin."""

from watcherlite import exceptions
from watcherlite.api.errors import TypedError

#: The types by which clients tell errors. The first class that fits counts.
_TYPES: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.Ambiguous, 'MultipleChoices'),
    (exceptions.RequestLimitExceeded, 'RequestLimitExceeded'),
    (exceptions.VersionTooEarly, 'MethodVersionNotFound'),
    (exceptions.InvalidSpec, 'InvalidSpec'),
    (exceptions.BadRequest, 'BadRequest'),
    (exceptions.PluginNotFound, 'ResourceNotFound'),
    (exceptions.PolicyBindingNotFound, 'PolicyBindingNotFound'),
    (exceptions.NotFound, 'ResourceNotFound'),
    (exceptions.ResourceIsLocked, 'ResourceIsLocked'),
    (exceptions.ActionConflict, 'ActionConflict'),
    (exceptions.ActionCooldown, 'ActionCooldown'),
    (exceptions.ActionImmutable, 'ActionImmutable'),
    (exceptions.ActionInProgress, 'ActionInProgress'),
    (exceptions.FeatureNotSupported, 'FeatureNotSupported'),
    (exceptions.NodeNotOrphan, 'NodeNotOrphan'),
    (exceptions.ResourceInUse, 'ResourceInUse'),
    (exceptions.Conflict, 'ActionConflict'),
    (exceptions.OverQuota, 'OverQuota'),
    (exceptions.Forbidden, 'Forbidden'),
    (exceptions.NoSuchVersion, 'InvalidGlobalAPIVersion'),
)
ERROR_FORMAT = TypedError(
    _TYPES,
    {
        406: 'The version or the media type is not supported.',
        409: 'The request conflicts with the current state.',
    },
    'ResourceNotFound, ResourceIsLocked, ActionConflict',
    has_code=True,
)
