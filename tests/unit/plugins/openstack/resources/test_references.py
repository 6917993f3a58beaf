"""The translation of names to ids."""

from tests.unit.plugins.openstack.resources import case
from watcherlite.plugins.openstack.resources import references
from watcherlite.plugins.resource_handlers.errors import ResourceFault


class TestReferences(case.ResourceCase):
    def setUp(self):
        super().setUp()
        self.network = self.connection.network
        self.made = self.network.create_network(name='inner')
        self.network.calls.clear()

    def test_a_name_becomes_the_id(self):
        found = references.NETWORK.id_of(self.connection, 'inner')

        self.assertEqual(self.made.id, found)

    def test_a_uuid_needs_no_request(self):
        self.assertEqual(
            self.made.id, references.NETWORK.id_of(self.connection, self.made.id)
        )
        self.assertEqual([], self.network.calls)

    def test_lists_are_translated_item_by_item(self):
        found = references.NETWORK.ids_of(self.connection, ['inner', self.made.id])

        self.assertEqual([self.made.id] * 2, found)
        self.assertIsNone(references.NETWORK.ids_of(self.connection, ''))

    def test_a_missing_and_an_ambiguous_name_are_refused(self):
        with self.assertRaisesRegex(ResourceFault, 'The network outer does not exist'):
            references.NETWORK.id_of(self.connection, 'outer')
        self.network.create_network(name='inner')
        with self.assertRaisesRegex(ResourceFault, 'named inner; use the id'):
            references.NETWORK.id_of(self.connection, 'inner')
