"""The error formats of Heat and Senlin."""

import json

import jsonschema

from tests import base
from watcherlite import exceptions
from watcherlite.api.errors import HEAT_ERRORS, SENLIN_ERRORS, TypedError, fault_of

TITLES = {
    400: 'Bad Request',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    406: 'Not Acceptable',
    409: 'Conflict',
    500: 'Internal Server Error',
    503: 'Service Unavailable',
}
#: error -> (status, type), by which clients of Senlin distinguish errors
SENLIN = {
    exceptions.Invalid('x'): (400, 'HTTPBadRequest'),
    exceptions.BadRequest('x'): (400, 'BadRequest'),
    exceptions.InvalidSpec('x'): (400, 'InvalidSpec'),
    exceptions.Ambiguous('x', ['u']): (400, 'MultipleChoices'),
    exceptions.RequestLimitExceeded('x'): (400, 'RequestLimitExceeded'),
    exceptions.VersionTooEarly('x'): (400, 'MethodVersionNotFound'),
    exceptions.Unauthorized('x'): (401, 'HTTPUnauthorized'),
    exceptions.Forbidden('x'): (403, 'Forbidden'),
    exceptions.OverQuota('x'): (403, 'OverQuota'),
    exceptions.NotFound('x'): (404, 'ResourceNotFound'),
    exceptions.PolicyBindingNotFound('x'): (404, 'PolicyBindingNotFound'),
    exceptions.NotAcceptable('x'): (406, 'HTTPNotAcceptable'),
    exceptions.NoSuchVersion('x'): (406, 'InvalidGlobalAPIVersion'),
    exceptions.ResourceIsLocked('x'): (409, 'ResourceIsLocked'),
    exceptions.ActionConflict('x'): (409, 'ActionConflict'),
    exceptions.ActionCooldown('x'): (409, 'ActionCooldown'),
    exceptions.ActionInProgress('x'): (409, 'ActionInProgress'),
    exceptions.ActionImmutable('x'): (409, 'ActionImmutable'),
    exceptions.FeatureNotSupported('x'): (409, 'FeatureNotSupported'),
    exceptions.NodeNotOrphan('x'): (409, 'NodeNotOrphan'),
    exceptions.ResourceInUse('x'): (409, 'ResourceInUse'),
    exceptions.StoreUnavailable('x'): (503, 'HTTPServiceUnavailable'),
    KeyError('x'): (500, 'HTTPInternalServerError'),
}
#: error -> (status, type), by which clients of Heat distinguish errors
HEAT = {
    exceptions.Invalid('x'): (400, 'HTTPBadRequest'),
    exceptions.TemplateInvalid('x'): (400, 'StackValidationFailed'),
    exceptions.StackValidationFailed('x'): (400, 'StackValidationFailed'),
    exceptions.UserParameterMissing('x'): (400, 'UserParameterMissing'),
    exceptions.UnknownUserParameter('x'): (400, 'UnknownUserParameter'),
    exceptions.CircularDependency('x'): (400, 'CircularDependencyException'),
    exceptions.RequestLimitExceeded('x'): (400, 'RequestLimitExceeded'),
    exceptions.ImmutableParameterModified('x'): (400, 'ImmutableParameterModified'),
    exceptions.NotSupported('x'): (400, 'NotSupported'),
    exceptions.ResourceActionNotSupported('x'): (400, 'ResourceActionNotSupported'),
    exceptions.PhysicalResourceIDAmbiguity('x'): (400, 'PhysicalResourceIDAmbiguity'),
    exceptions.PluginNotFound('x'): (400, 'StackValidationFailed'),
    exceptions.Unauthorized('x'): (401, 'HTTPUnauthorized'),
    exceptions.Forbidden('x'): (403, 'Forbidden'),
    exceptions.StackNotFound('x'): (404, 'EntityNotFound'),
    exceptions.ResourceNotFound('x'): (404, 'ResourceNotFound'),
    exceptions.NotFound('x'): (404, 'NotFound'),
    exceptions.StackExists('x'): (409, 'StackExists'),
    exceptions.ActionInProgress('x'): (409, 'ActionInProgress'),
    exceptions.Conflict('x'): (409, 'Conflict'),
    exceptions.StoreUnavailable('x'): (503, 'HTTPServiceUnavailable'),
    KeyError('x'): (500, 'HTTPInternalServerError'),
}


def written(shape: TypedError, error: Exception):
    """Return the body of an error."""
    return json.loads(shape.data(fault_of(error, 'req-1')))


class TestErrorFormats(base.TestCase):
    def test_each_exception_maps_to_status_and_type(self):
        for shape, errors in ((SENLIN_ERRORS, SENLIN), (HEAT_ERRORS, HEAT)):
            found = {}
            for error in errors:
                body = written(shape, error)
                jsonschema.validate(body, shape.schema)
                self.assertEqual(TITLES[body['code']], body['title'])
                found[error] = (body['code'], body['error']['type'])
            self.assertEqual(errors, found)

    def test_senlin_error_has_complete_body(self):
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
            written(SENLIN_ERRORS, exceptions.ResourceIsLocked('The cluster is busy.')),
        )

    def test_heat_error_has_message_without_credentials(self):
        hidden = (
            'Internal server error. See the log of the API under the request id req-1.'
        )
        for error, text in (
            (exceptions.StackExists('The Stack (a) is.'), 'The Stack (a) is.'),
            (exceptions.Conflict('https://a:geheim@b is.'), 'https://a:***@b is.'),
            (KeyError('geheim'), hidden),
        ):
            found = written(HEAT_ERRORS, error)

            self.assertEqual(text, found['error']['message'])
            self.assertNotIn('geheim', json.dumps(found))
            self.assertIsNone(found['error']['traceback'])
