"""The exceptions that users see instead of those of openstacksdk."""

import requests
from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from tests import base
from watcherlite import exceptions
from watcherlite.plugins.openstack import errors


def response(status, text='', url='http://nova:8774/v2.1/servers/1'):
    made = requests.Response()
    made.status_code = status
    made._content = text.encode()
    made.headers['Content-Type'] = 'text/plain'
    made.request = requests.Request('GET', url).prepare()
    made.url = url
    return made


def from_service(status, text=''):
    """Return the exception of openstacksdk for a response."""
    try:
        sdk.raise_from_response(response(status, text))
    except sdk.SDKException as error:
        return error
    raise AssertionError(status)


def from_keystone(status):
    return keystone.from_response(
        response(status), 'POST', 'http://keystone:5000/v3/auth/tokens'
    )


class TestTranslation(base.TestCase):
    def raised(self, error):
        try:
            with errors.translated('compute', 'server 6f70'):
                raise error
        except Exception as found:
            return type(found), str(found)

    def test_responses_of_a_service(self):
        for status, text, kind, expected in (
            (400, 'bad flavor', exceptions.Invalid, 'says: bad flavor (HTTP 400)'),
            (
                403,
                'Policy does not allow this.',
                exceptions.Forbidden,
                'says: Policy does not allow this (HTTP 403). The user needs a role '
                'that permits this',
            ),
            (404, 'no server', exceptions.NotFound, 'says: no server (HTTP 404)'),
            (409, 'is locked', exceptions.Conflict, 'says: is locked (HTTP 409)'),
            (
                403,
                'Quota exceeded for cores.',
                exceptions.OverQuota,
                'the quota of the compute service is exhausted: Quota exceeded for '
                'cores. Delete what is not needed, or have the quota increased',
            ),
            (
                413,
                'VolumeLimitExceeded: Maximum number of volumes allowed (10)',
                exceptions.OverQuota,
                'Maximum number of volumes allowed (10). Delete',
            ),
            (500, 'oops', exceptions.WatcherliteError, 'says: oops (HTTP 500)'),
        ):
            with self.subTest(status=status, text=text):
                found, message = self.raised(from_service(status, text))

                self.assertIs(kind, found)
                self.assertTrue(message.startswith('server 6f70: '), message)
                self.assertIn(expected, message)
                self.assertNotIn('http://', message)

    def test_a_service_that_is_not_available(self):
        for error, reason in (
            (keystone.ConnectFailure('refused'), 'it does not respond'),
            (keystone.ConnectTimeout('late'), 'it does not respond'),
            (keystone.DiscoveryFailure('x'), 'its versions cannot be read'),
            (from_service(503), 'HTTP 503'),
            (from_service(502), 'HTTP 502'),
            (from_service(429), 'HTTP 429'),
            # A new token was rejected, too.
            (from_service(401), 'HTTP 401'),
        ):
            with self.subTest(error=repr(error)):
                self.assertEqual(
                    (
                        exceptions.ServiceUnavailable,
                        'server 6f70: the compute service is not available: ' + reason,
                    ),
                    self.raised(error),
                )

    def test_keystone_refuses_a_token(self):
        for status in (401, 403, 404):
            found, text = self.raised(from_keystone(status))

            self.assertIs(errors.AuthenticationFailed, found)
            self.assertIsInstance(found(text, status), exceptions.Forbidden)
            self.assertIn(f'keystone refuses the credentials (HTTP {status})', text)

    def test_keystone_is_not_available(self):
        self.assertEqual(
            (
                exceptions.ServiceUnavailable,
                'server 6f70: the identity service is not available: HTTP 503',
            ),
            self.raised(from_keystone(503)),
        )

    def test_errors_of_the_configuration(self):
        for error, kind, text in (
            (keystone.SSLError('x'), exceptions.ConfigurationError, 'cafile'),
            (keystone.EndpointNotFound('x'), errors.NotInCatalog, 'region_name'),
            (
                keystone.MissingAuthPlugin('x'),
                exceptions.ConfigurationError,
                '[openstack] cannot be used',
            ),
        ):
            found, message = self.raised(error)

            self.assertIs(kind, found)
            self.assertIn(text, message)

    def test_messages_have_no_credentials_and_a_limit(self):
        _, masked = self.raised(from_service(400, 'password=hunter2 is wrong'))
        _, long = self.raised(from_service(400, 'x' * 5000))

        self.assertNotIn('hunter2', masked)
        self.assertLess(len(long), 400)

    def test_other_exceptions_are_not_converted(self):
        own, defect = exceptions.Conflict('mine'), KeyError('x')

        self.assertEqual((exceptions.Conflict, 'mine'), self.raised(own))
        self.assertEqual(KeyError, self.raised(defect)[0])
