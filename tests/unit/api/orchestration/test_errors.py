import json

from tests.unit.api import error_formats
from watcherlite import exceptions
from watcherlite.api.errors import HEAT_ERRORS

#: Exception -> (status, title, type) as clients of Heat tell them apart.
ERRORS = {
    exceptions.Invalid('x'): (400, 'Bad Request', 'HTTPBadRequest'),
    exceptions.TemplateInvalid('x'): (400, 'Bad Request', 'StackValidationFailed'),
    exceptions.StackValidationFailed('x'): (
        *(400, 'Bad Request'),
        'StackValidationFailed',
    ),
    exceptions.UserParameterMissing('x'): (400, 'Bad Request', 'UserParameterMissing'),
    exceptions.UnknownUserParameter('x'): (400, 'Bad Request', 'UnknownUserParameter'),
    exceptions.CircularDependency('x'): (
        *(400, 'Bad Request'),
        'CircularDependencyException',
    ),
    exceptions.RequestLimitExceeded('x'): (400, 'Bad Request', 'RequestLimitExceeded'),
    exceptions.ImmutableParameterModified('x'): (
        *(400, 'Bad Request'),
        'ImmutableParameterModified',
    ),
    exceptions.NotSupported('x'): (400, 'Bad Request', 'NotSupported'),
    exceptions.ResourceActionNotSupported('x'): (
        *(400, 'Bad Request'),
        'ResourceActionNotSupported',
    ),
    exceptions.PhysicalResourceIDAmbiguity('x'): (
        *(400, 'Bad Request'),
        'PhysicalResourceIDAmbiguity',
    ),
    exceptions.PluginNotFound('x'): (400, 'Bad Request', 'StackValidationFailed'),
    exceptions.Unauthorized('x'): (401, 'Unauthorized', 'HTTPUnauthorized'),
    exceptions.Forbidden('x'): (403, 'Forbidden', 'Forbidden'),
    exceptions.StackNotFound('x'): (404, 'Not Found', 'EntityNotFound'),
    exceptions.ResourceNotFound('x'): (404, 'Not Found', 'ResourceNotFound'),
    exceptions.NotFound('x'): (404, 'Not Found', 'NotFound'),
    exceptions.StackExists('x'): (409, 'Conflict', 'StackExists'),
    exceptions.ActionInProgress('x'): (409, 'Conflict', 'ActionInProgress'),
    exceptions.Conflict('x'): (409, 'Conflict', 'Conflict'),
    exceptions.StoreUnavailable('x'): (
        *(503, 'Service Unavailable'),
        'HTTPServiceUnavailable',
    ),
    KeyError('x'): (500, 'Internal Server Error', 'HTTPInternalServerError'),
}


class TestShape(error_formats.FormatCase):
    """The format of errors."""

    format = HEAT_ERRORS
    errors = ERRORS

    def test_clients_can_tell_them_apart(self):
        self.assert_told_apart()

    def test_error_has_the_message(self):
        body = self.written(exceptions.StackExists('The Stack (a) already exists.'))

        self.assertEqual('The Stack (a) already exists.', body['error']['message'])
        self.assertIsNone(body['error']['traceback'])

    def test_credentials_are_masked(self):
        body = self.written(
            exceptions.Conflict('https://ada:geheim@example.org is there.')
        )

        self.assertNotIn('geheim', json.dumps(body))

    def test_unexpected_errors_are_hidden(self):
        body = self.written(KeyError('geheim'))

        self.assertNotIn('geheim', json.dumps(body))
        self.assertIn('req-1', body['error']['message'])
