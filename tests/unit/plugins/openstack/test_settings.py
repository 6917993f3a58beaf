"""The group [openstack], and the settings made of it."""

from keystoneauth1 import loading

from tests import base
from watcherlite import conf, exceptions, settings
from watcherlite.conf import openstack


class TestOptions(base.TestCase):
    def test_options_have_the_names_of_keystoneauth(self):
        names = {option.dest for option in openstack.AUTH_OPTS}
        session = {o.dest for o in loading.get_session_conf_options()}
        expected = {
            option.dest
            for auth_type in openstack.AUTH_TYPES
            for option in loading.get_auth_plugin_conf_options(auth_type)
        }

        self.assertEqual(set(), names - expected)
        self.assertEqual(
            {'cafile', 'certfile', 'keyfile', 'insecure'},
            {option.dest for option in openstack.OPTS} & session,
        )


class TestSettings(base.TestCase):
    def settings(self, **values):
        configuration = conf.new(config_files=[])
        for name, value in values.items():
            configuration.set_override(name, value, 'openstack')
        return settings.openstack_settings(configuration)

    def test_no_cloud_is_configured_by_default(self):
        self.assertFalse(self.settings().is_configured)

    def test_options_of_the_authentication_are_those_that_are_set(self):
        found = self.settings(
            auth_url='https://k/v3',
            username='w',
            password='hunter2',
            cafile='/ca.pem',
            certfile='/c.pem',
            keyfile='/k.pem',
        )

        self.assertTrue(found.is_configured)
        self.assertEqual(
            {'auth_url': 'https://k/v3', 'username': 'w', 'password': 'hunter2'},
            found.auth,
        )
        self.assertEqual('/ca.pem', found.verify)
        self.assertEqual(('/c.pem', '/k.pem'), found.cert)
        self.assertEqual((5.0, 60.0), found.timeout)
        self.assertNotIn('hunter2', repr(found))

    def test_other_clouds_are_those_of_the_option(self):
        urls = ['https://a/v3', 'https://b/v3']

        self.assertEqual(
            tuple(urls), self.settings(remote_auth_urls=urls).remote_auth_urls
        )

    def test_insecure_wins_over_the_authorities(self):
        found = self.settings(cloud='x', insecure=True, cafile='/ca.pem')

        self.assertIs(False, found.verify)

    def test_contradicting_options_are_refused(self):
        for values, text in (
            (
                {'cloud': 'x', 'username': 'u', 'auth_url': 'http://k'},
                '[openstack] has cloud and auth_url, username; set either cloud, or '
                'the options of the authentication',
            ),
            ({'keyfile': '/k.pem'}, '[openstack] has keyfile without certfile'),
        ):
            error = self.assertRaises(
                exceptions.ConfigurationError, self.settings, **values
            )

            self.assertEqual(text, str(error))
