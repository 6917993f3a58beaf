"""Pages, and the visibility of their rows."""

import dataclasses

from tests import base
from tests.unit.api.infra_optim import fakes
from watcherlite import exceptions
from watcherlite.api.clustering import caller, pages
from watcherlite.api.operation import Caller
from watcherlite.db.query import Query
from watcherlite.domain.clusters import Cluster

URL = f'{fakes.HOST}/clustering'
ADA = Caller(user_id='ada', project_id='here', roles=frozenset({'member'}))
ROOT = Caller(user_id='root', project_id='there', roles=frozenset({'admin'}))
UUIDS = [f'0000000{n}-0000-4000-8000-000000000000' for n in range(5)]


def make_request(caller=ADA, most=1000, **query):
    return fakes.request(
        fakes.services(max_limit=most),
        caller=caller,
        query=query,
        mount_url=URL,
        route_path='/v1/clusters',
    )


class TestQueries(base.TestCase):
    """The query of a request for a page."""

    def query(self, caller=ADA, filters=None, **asked):
        return pages.query(make_request(caller, **asked), Cluster, filters or {}, 10)

    def test_query_is_limited_to_project_unless_all_are_requested(self):
        unknown = Caller(user_id='noauth', in_all_projects=True)
        self.assertEqual(
            [Query(tenant=project, limit=10) for project in ('here', 'there', None)],
            [self.query(), self.query(ROOT), self.query(unknown)],
        )
        self.assertIsNone(self.query(ROOT, global_project=True).tenant)

    def test_sort_keys_are_used_in_order(self):
        found = self.query(sort='name:desc, status,init_at:asc,name')

        self.assertEqual(
            (('name', True), ('status', False), ('init_at', False)), found.sort
        )

    def test_unknown_sort_key_is_rejected(self):
        for sort, text in (
            ('colour', "Unsupported sort key 'colour' for 'sort'."),
            ('name:up', "Unsupported sort dir 'up' for 'sort'."),
            (':asc', "Unsupported sort key '' for 'sort'."),
        ):
            error = self.assertRaises(exceptions.Invalid, self.query, sort=sort)

            self.assertEqual(text, str(error))

    def test_query_has_filters_and_marker_in_lower_case(self):
        marker = '0000000A-0000-4000-8000-00000000000F'
        found = self.query(filters={'name': {'a'}}, marker=marker)

        self.assertEqual(
            ({'name': {'a'}}, marker.lower()), (found.filters, found.after)
        )


class TestPages(base.TestCase):
    """The response to a request for a page."""

    def answer(self, rows=5, **asked):
        self.asked = []

        def find(limit):
            self.asked.append(limit)
            return UUIDS[:rows][:limit]

        return pages.respond(
            make_request(**asked),
            'clusters',
            find,
            lambda found: [{'id': uuid} for uuid in found],
        ).body

    def test_full_page_has_next_link(self):
        body = self.answer(limit=2, name=['a', 'b'], global_project=False)

        self.assertEqual(
            {
                'clusters': [{'id': UUIDS[0]}, {'id': UUIDS[1]}],
                'links': [
                    {
                        'href': f'{URL}/v1/clusters?limit=2&name=a&name=b&'
                        f'global_project=false&marker={UUIDS[1]}',
                        'rel': 'next',
                    }
                ],
            },
            body,
        )

    def test_last_page_has_no_next_link_and_limit_zero_needs_no_query(self):
        self.assertEqual(['clusters'], list(self.answer(limit=9)))
        self.assertEqual({'clusters': []}, self.answer(limit=0))
        self.assertEqual([], self.asked)

    def test_page_size_has_configured_maximum(self):
        self.answer(most=3)
        first = self.asked
        self.answer(most=3, limit=4)

        self.assertEqual(([3], [3]), (first, self.asked))


class TestCallers(base.TestCase):
    """The caller of a request."""

    def test_created_objects_belong_to_project_of_caller_or_default(self):
        unknown = Caller(user_id='noauth', in_all_projects=True)
        for asker, expected in (
            (ADA, ('here', 'ada', False, 'here')),
            (unknown, ('default', 'noauth', True, None)),
        ):
            by = caller.context_of(make_request(asker))
            found = (by.owner.tenant, by.owner.user, by.everywhere, by.tenant)
            self.assertEqual(expected, found)

    def test_only_administrators_have_admin_context(self):
        self.assertIsNone(caller.admin_context(make_request()))
        request = dataclasses.replace(make_request(ROOT), sees_all_projects=True)

        self.assertIsNone(caller.admin_context(request).tenant)
