"""The validation of an `os.nova.server` against the cloud."""

from tests.unit.plugins.openstack.profiles.test_server import BASE, ServerProfileCase
from watcherlite import exceptions
from watcherlite.plugins.openstack.profiles.server import ServerProfile

EVERY = {
    **BASE,
    'availability_zone': 'az:host',
    'key_name': 'key',
    'scheduler_hints': {'group': 'group'},
    'security_groups': ['web'],
    'block_device_mapping_v2': [
        {'source_type': 'volume', 'destination_type': 'volume', 'uuid': 'data'},
        {'source_type': 'blank', 'destination_type': 'local'},
    ],
    'networks': [
        {
            'network': 'net',
            'subnet': 'sub',
            'security_groups': ['web'],
            'floating_network': 'public',
            'floating_ip': '203.0.113.9',
        },
        {'port': 'free', 'floating_ip': '203.0.113.7'},
    ],
}


class TestReferences(ServerProfileCase):
    def setUp(self):
        super().setUp()
        self.compute.create_availability_zone(name='az')
        self.compute.create_keypair(name='key')
        self.compute.create_server_group(name='group')
        self.compute.create_flavor(name='old', is_disabled=True)
        self.connection.block_storage.create_volume(name='data')
        self.network.create_port(name='free', status='DOWN')
        self.network.create_port(name='used', status='ACTIVE')
        self.network.create_ip(name='203.0.113.7')
        self.network.create_ip(name='203.0.113.8', port_id='p')
        self.network.create_security_group(name='twice')
        self.network.create_security_group(name='twice')
        self.resource = self.run_of(ServerProfile)

    def verify(self, properties):
        handler = self.resource._instance()
        handler.verify(self.clouds.service_connection, self.resource.fit(properties))

    def test_a_profile_whose_references_exist_is_valid(self):
        self.verify(EVERY)

    def test_missing_and_used_objects_are_named_in_the_words_of_senlin(self):
        for changes, expected in (
            ({'availability_zone': 'x'}, "The specified availability_zone 'x' could"),
            ({'flavor': 'x'}, "The specified flavor 'x' could not be found."),
            ({'flavor': 'old'}, "The specified flavor 'old' is disabled"),
            ({'image': 'x'}, "The specified image 'x' could not be found."),
            ({'key_name': 'x'}, "The specified key_name 'x' could not be found."),
            ({'scheduler_hints': {'group': 'x'}}, "The specified group 'x' could not"),
            ({'security_groups': ['twice']}, 'are named twice; use the id'),
            ({'networks': [{'network': 'x'}]}, "The specified network 'x' could not"),
            ({'networks': [{'subnet': 'x'}]}, "The specified subnet 'x' could not"),
            ({'networks': [{'port': 'x'}]}, "The specified port 'x' could not"),
            ({'networks': [{'port': 'used'}]}, 'The status of the port used must be'),
            (
                {'networks': [{'network': 'net', 'floating_ip': '203.0.113.8'}]},
                'the floating IP 203.0.113.8 has been used.',
            ),
            (
                {'networks': [{'network': 'net', 'floating_ip': '203.0.113.1'}]},
                "The specified floating_ip '203.0.113.1' could not be found.",
            ),
            (
                {
                    'networks': [
                        {
                            'network': 'net',
                            'floating_network': 'public',
                            'floating_ip': '203.0.113.8',
                        }
                    ]
                },
                'the floating IP 203.0.113.8 has been used.',
            ),
        ):
            with (
                self.subTest(changes=changes),
                self.assertRaisesRegex(exceptions.Invalid, expected),
            ):
                self.verify({**BASE, **changes})

    def test_all_problems_are_reported_and_the_region_is_that_of_the_profile(self):
        with self.assertRaisesRegex(exceptions.Invalid, 'flavor.*; .*image'):
            self.verify({'flavor': 'x', 'image': 'y'})
        regions = []

        def connect(region):
            regions.append(region)
            return self.connection

        given = self.resource.fit({**BASE, 'context': {'region_name': 'RegionTwo'}})
        self.resource._instance().verify(connect, given)

        self.assertEqual(['RegionTwo'], regions)
