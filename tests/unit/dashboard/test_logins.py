"""Logins without keystone; acceptance tests cover those with keystone."""

from tests import base
from watcherlite import conf
from watcherlite.api.settings import KEYSTONE, NOAUTH, ApiSettings
from watcherlite.dashboard import logins


class TestLogins(base.TestCase):
    def test_an_unknown_keystone_refuses_logins_and_not_the_start(self) -> None:
        configuration = conf.new([], [], [])

        login = logins.login_of(ApiSettings(auth_strategy=KEYSTONE), configuration)

        self.assertIn(logins.NO_KEYSTONE, self.log.output)
        with self.assertRaises(logins.LoginUnavailable) as caught:
            login.log_in({'user': 'alice', 'password': 'secret'})
        self.assertEqual(logins.NO_KEYSTONE, str(caught.exception))

    def test_the_url_of_the_dashboard_precedes_that_of_the_api(self) -> None:
        configuration = conf.new([], [], [])
        for option, expected in (
            (None, 'http://one.example.org'),
            ('http://two.example.org', 'http://two.example.org'),
        ):
            # It registers the options of keystonemiddleware.
            logins.login_of(ApiSettings(auth_strategy=KEYSTONE), configuration)
            configuration.set_override(
                'www_authenticate_uri', 'http://one.example.org', 'keystone_authtoken'
            )
            configuration.set_override('keystone_auth_uri', option, 'dashboard')
            with self.subTest(expected):
                found = logins.login_of(
                    ApiSettings(auth_strategy=KEYSTONE), configuration
                )
                self.assertEqual(expected, vars(found)['_url'])

    def test_without_authentication_there_is_no_login(self) -> None:
        login = logins.login_of(ApiSettings(auth_strategy=NOAUTH), conf.new([], [], []))
        self.assertEqual((), login.fields)
        self.assertRaises(logins.LoginFailed, login.log_in, {})
