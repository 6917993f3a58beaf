"""URLs are built from scheme and host, without the mount."""

from tests import base
from tests.unit.api.infra_optim import fakes
from watcherlite.api import links


class TestLinks(base.TestCase):
    def test_links_have_versioned_and_unversioned_urls(self) -> None:
        request = fakes.request()
        for found, path in (
            (links.object_links(request, 'actions', 'u'), 'actions/u'),
            (links.object_links(request, 'services', 7), 'services/7'),
            # Links of collections end in a slash.
            (links.collection_links(request, 'actions'), 'actions/'),
        ):
            self.assertEqual(
                [
                    {'href': f'http://127.0.0.1:9322/v1/{path}', 'rel': 'self'},
                    {'href': f'http://127.0.0.1:9322/{path}', 'rel': 'bookmark'},
                ],
                found,
            )
        self.assertEqual(
            'http://127.0.0.1:9322/v1/action_plans/u/events',
            links.unmounted_url(request, 'action_plans', 'u', 'events'),
        )
