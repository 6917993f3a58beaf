"""Addresses are built from scheme and host, without the mount."""

from tests import base
from tests.unit.api.infra_optim import fakes
from watcherlite.api import links


class TestLinks(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.request = fakes.request()

    def test_an_object_has_a_versioned_and_an_unversioned_address(self) -> None:
        self.assertEqual(
            [
                {'href': 'http://127.0.0.1:9322/v1/actions/u', 'rel': 'self'},
                {'href': 'http://127.0.0.1:9322/actions/u', 'rel': 'bookmark'},
            ],
            links.object_links(self.request, 'actions', 'u'),
        )

    def test_objects_without_uuid_have_links_with_their_number(self) -> None:
        self.assertEqual(
            'http://127.0.0.1:9322/v1/services/7',
            links.object_links(self.request, 'services', 7)[0]['href'],
        )

    def test_the_addresses_of_a_collection_end_in_a_slash(self) -> None:
        self.assertEqual(
            ['http://127.0.0.1:9322/v1/actions/', 'http://127.0.0.1:9322/actions/'],
            [link['href'] for link in links.collection_links(self.request, 'actions')],
        )

    def test_an_address_below_an_object(self) -> None:
        self.assertEqual(
            'http://127.0.0.1:9322/v1/action_plans/u/events',
            links.unmounted_url(self.request, 'action_plans', 'u', 'events'),
        )
