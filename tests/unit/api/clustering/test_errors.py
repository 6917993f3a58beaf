from tests.unit.api import error_formats
from watcherlite import exceptions
from watcherlite.api.errors import SENLIN_ERRORS

#: Exception -> (status, title, type) as clients of Senlin tell them apart.
ERRORS = {
    exceptions.Invalid('x'): (400, 'Bad Request', 'HTTPBadRequest'),
    exceptions.BadRequest('x'): (400, 'Bad Request', 'BadRequest'),
    exceptions.InvalidSpec('x'): (400, 'Bad Request', 'InvalidSpec'),
    exceptions.Ambiguous('x', ['u']): (400, 'Bad Request', 'MultipleChoices'),
    exceptions.RequestLimitExceeded('x'): (400, 'Bad Request', 'RequestLimitExceeded'),
    exceptions.VersionTooEarly('x'): (400, 'Bad Request', 'MethodVersionNotFound'),
    exceptions.Unauthorized('x'): (401, 'Unauthorized', 'HTTPUnauthorized'),
    exceptions.Forbidden('x'): (403, 'Forbidden', 'Forbidden'),
    exceptions.OverQuota('x'): (403, 'Forbidden', 'OverQuota'),
    exceptions.NotFound('x'): (404, 'Not Found', 'ResourceNotFound'),
    exceptions.PolicyBindingNotFound('x'): (
        *(404, 'Not Found'),
        'PolicyBindingNotFound',
    ),
    exceptions.NotAcceptable('x'): (406, 'Not Acceptable', 'HTTPNotAcceptable'),
    exceptions.NoSuchVersion('x'): (406, 'Not Acceptable', 'InvalidGlobalAPIVersion'),
    exceptions.ResourceIsLocked('x'): (409, 'Conflict', 'ResourceIsLocked'),
    exceptions.ActionConflict('x'): (409, 'Conflict', 'ActionConflict'),
    exceptions.ActionCooldown('x'): (409, 'Conflict', 'ActionCooldown'),
    exceptions.ActionInProgress('x'): (409, 'Conflict', 'ActionInProgress'),
    exceptions.ActionImmutable('x'): (409, 'Conflict', 'ActionImmutable'),
    exceptions.FeatureNotSupported('x'): (409, 'Conflict', 'FeatureNotSupported'),
    exceptions.NodeNotOrphan('x'): (409, 'Conflict', 'NodeNotOrphan'),
    exceptions.ResourceInUse('x'): (409, 'Conflict', 'ResourceInUse'),
    exceptions.StoreUnavailable('x'): (
        *(503, 'Service Unavailable'),
        'HTTPServiceUnavailable',
    ),
    KeyError('x'): (500, 'Internal Server Error', 'HTTPInternalServerError'),
}


class TestShape(error_formats.FormatCase):
    """The format of errors."""

    format = SENLIN_ERRORS
    errors = ERRORS

    def test_clients_can_tell_them_apart(self):
        self.assert_told_apart()

    def test_the_whole_of_one(self):
        self.assertEqual(
            {
                'code': 409,
                'title': 'Conflict',
                'explanation': 'The request conflicts with the current state.',
                'error': {
                    'code': 409,
                    'message': 'The cluster is busy.',
                    'type': 'ResourceIsLocked',
                },
            },
            self.written(exceptions.ResourceIsLocked('The cluster is busy.')),
        )
