from tests import base
from tests.unit.api.orchestration.requests import PROJECT, make_request
from watcherlite import exceptions
from watcherlite.api.orchestration import pages
from watcherlite.db.query import Query
from watcherlite.db.stacks import ListedStack
from watcherlite.domain.stacks import Stack


def query(**asked):
    return pages.query(make_request(query=asked))


class RecordingStore:
    """A store of three stacks that records its queries."""

    def __init__(self):
        self.asked = []

    def list_stacks(self, desired):
        self.asked.append(desired)
        rows = [
            ListedStack(Stack(f'u{n}', f's{n}', 'acme', definition_id=1, id=n), None)
            for n in range(3)
        ]
        return rows[: desired.limit]

    def count_stacks(self, desired):
        return 3


class TestQueries(base.TestCase):
    """The query of a request for stacks."""

    def test_default_query_is_limited_to_project_and_newest_first(self):
        latest = (('created_at', True),)
        expected = Query(sort=latest, tenant='acme', limit=1000)
        # A page is not larger than the configured maximum.
        self.assertEqual([expected] * 2, [query(), query(limit=5000)])

    def test_arguments_become_filters_of_store(self):
        self.assertEqual(
            Query(
                sort=(('created_at', True),),
                limit=1000,
                tenant='acme',
                filters={
                    'name': {'a', 'b'},
                    'uuid': {'u'},
                    'user': {'ada'},
                    'owner_uuid': {'o'},
                    'action': {'CREATE'},
                },
            ),
            query(
                name=['a', 'b'],
                id=['u'],
                username=['ada'],
                owner_id=['o'],
                action=['CREATE'],
            ),
        )

    def test_status_may_include_action(self):
        for names, filters in (
            (['CREATE_IN_PROGRESS'], {'status': {'IN_PROGRESS'}, 'action': {'CREATE'}}),
            (['IN_PROGRESS', 'FAILED'], {'status': {'IN_PROGRESS', 'FAILED'}}),
        ):
            self.assertEqual(filters, query(status=names).filters)

    def test_sort_keys_have_names_of_heat(self):
        for asked, expected in (
            (
                {'sort_keys': ['stack_name,colour', 'updated_time']},
                (('name', False), ('updated_at', False)),
            ),
            ({'sort_keys': ['colour']}, (('created_at', True),)),
            ({'sort_keys': ['stack_status'], 'sort_dir': 'desc'}, (('status', True),)),
        ):
            self.assertEqual(expected, query(**asked).sort)

    def test_global_tenant_selects_all_projects_or_given_project(self):
        self.assertIsNone(query(global_tenant=True).tenant)
        self.assertEqual('b', query(global_tenant=True, tenant='b').tenant)
        self.assertEqual('acme', query(tenant='b').tenant)

    def test_tags_become_four_filters(self):
        found = query(tags='a, b', tags_any='c', not_tags='d', not_tags_any='e,')

        self.assertEqual(
            {
                'tags': ('a', 'b'),
                'tags_any': ('c',),
                'not_tags': ('d',),
                'not_tags_any': ('e',),
            },
            found.filters,
        )

    def test_too_many_tags_are_rejected(self):
        many = ','.join(map(str, range(pages.MOST_TAGS)))

        self.assertEqual(
            pages.MOST_TAGS, len(query(tags=f'{many},1,2,3').filters['tags'])
        )
        error = self.assertRaises(exceptions.Invalid, query, not_tags_any=f'{many},x')

        self.assertEqual('not_tags_any has 101 tags; the limit is 100', str(error))


class TestPages(base.TestCase):
    """The response to a request for stacks."""

    def page(self, **asked):
        self.store = RecordingStore()
        request = make_request(
            query=asked, parts={'store': self.store}, route_path='/v1/acme/stacks'
        )
        answer = pages.list_stacks(
            request, lambda rows: [{'id': row.stack.uuid} for row in rows]
        )
        return answer.body

    def test_complete_list_has_no_next_link_and_limit_zero_needs_no_query(self):
        rows = [{'id': 'u0'}, {'id': 'u1'}, {'id': 'u2'}]
        self.assertEqual({'stacks': rows}, self.page())
        self.assertEqual(3, self.page(limit=1, with_count=True)['count'])
        self.assertEqual({'stacks': []}, self.page(limit=0))
        self.assertEqual([], self.store.asked)

    def test_next_link_has_same_arguments(self):
        self.assertEqual(
            {
                'stacks': [{'id': 'u0'}, {'id': 'u1'}],
                'links': [
                    {
                        'href': f'{PROJECT}/stacks?limit=2&name=a&name=b&'
                        'show_nested=true&marker=u1',
                        'rel': 'next',
                    }
                ],
            },
            self.page(limit=2, name=['a', 'b'], show_nested=True),
        )
