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


class TestReading(ServerProfileCase):
    def read(self, given=None, **record):
        self.compute.create_server(id='present', **record)
        regions = []

        def connect(region):
            regions.append(region)
            return self.connection

        handler = self.run_of(ServerProfile)._instance()
        return handler.read_properties(connect, 'present', given or {}), regions

    def test_an_existing_server_has_the_properties_of_a_profile(self):
        fixed = {'addr': '10.0.0.2', 'OS-EXT-IPS:type': 'fixed'}
        floating = {'addr': '203.0.113.7', 'OS-EXT-IPS:type': 'floating'}
        found, regions = self.read(
            {'context': {'region_name': 'RegionTwo'}},
            **{
                'OS-DCF:diskConfig': 'MANUAL',
                'OS-EXT-AZ:availability_zone': 'nova',
                'config_drive': 'True',
                'flavor': {'original_name': 'small'},
                'image': {'id': 'id-of-image-1'},
                'key_name': None,
                'metadata': {'a': 'b', 'cluster_id': 'c', 'watcherlite_resource': 'n'},
                'name': 'web',
                'addresses': {'net': [fixed, floating]},
                'security_groups': [{'name': 'web'}, {'name': 'web'}],
            },
        )

        expected = {
            'auto_disk_config': False,
            'availability_zone': 'nova',
            'config_drive': True,
            'flavor': 'small',
            'image': 'id-of-image-1',
            'metadata': {'a': 'b'},
            'name': 'web',
            'networks': [{'network': 'net'}],
            'security_groups': ['web'],
        }
        self.assertEqual((expected, ['RegionTwo']), (found, regions))
        self.run_of(ServerProfile).fit(found)

    def test_the_image_of_a_server_from_a_volume_is_that_of_the_volume(self):
        self.connection.block_storage.create_volume(
            id='v', is_bootable=True, volume_image_metadata={'image_id': 'copied'}
        )
        volumes = {'os-extended-volumes:volumes_attached': [{'id': 'v'}]}

        found, _ = self.read(image='', flavor={'id': '1'}, **volumes)

        self.assertEqual(('copied', '1'), (found['image'], found['flavor']))

    def test_a_server_that_does_not_exist_is_not_found(self):
        handler = self.run_of(ServerProfile)._instance()

        with self.assertRaisesRegex(exceptions.NotFound, 'server gone does not'):
            handler.read_properties(self.clouds.service_connection, 'gone', {})
