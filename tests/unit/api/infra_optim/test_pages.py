"""Pages: queries of the store, rejected arguments, and the link to the next page."""

import dataclasses
import datetime
from collections.abc import Sequence
from typing import Any
from urllib import parse

import jsonschema

from tests import base
from tests.unit.api.infra_optim import fakes
from watcherlite.api.infra_optim import pages
from watcherlite.api.operation import Request
from watcherlite.db.query import FILTERS, SORT_KEYS, Query

UUIDS = [f'00000000-0000-4000-8000-00000000000{n}' for n in range(5)]


class Collection:
    """Rows that record their queries.

    :ivar queries: in the order of their arrival
    """

    def __init__(self, rows: int) -> None:
        self._uuids = UUIDS[:rows]
        self.queries: list[Query] = []

    def fetch(self, query: Query) -> Sequence[str]:
        self.queries.append(query)
        start = self._uuids.index(query.after) + 1 if query.after else 0
        return self._uuids[start : start + query.limit]


def represent(request: Request, uuid: str, detail: bool) -> dict[str, Any]:
    return {'uuid': uuid, 'detail': detail}


class PageCase(base.TestCase):
    def page(
        self, rows: int, noun: str = 'actions', detail: bool = False, **query: Any
    ) -> tuple[Any, list[Query]]:
        """Return the body of a page and its queries."""
        collection = Collection(rows)
        most = query.pop('max_limit', 1000)
        more = {name: query.pop(name) for name in ('show_deleted',) if name in query}
        request = fakes.request(fakes.services(max_limit=most), query=query, **more)
        answer = pages.page(request, noun, collection.fetch, represent, detail)
        return answer.body, collection.queries


class TestPage(PageCase):
    def test_default_query_is_unfiltered(self) -> None:
        body, queries = self.page(2)
        self.assertEqual(
            {
                'actions': [
                    {'uuid': UUIDS[0], 'detail': False},
                    {'uuid': UUIDS[1], 'detail': False},
                ]
            },
            body,
        )
        self.assertEqual([Query(sort=(('id', False),), limit=1001)], queries)

    def test_arguments_become_one_query(self) -> None:
        _, queries = self.page(
            5,
            limit=2,
            marker=UUIDS[1].upper(),
            sort_key='state',
            sort_dir='desc',
            state='PENDING',
            audit_uuid=UUIDS[4].upper(),
            show_deleted=True,
        )
        self.assertEqual(
            [
                Query(
                    filters={'audit_uuid': UUIDS[4], 'state': 'PENDING'},
                    sort=(('state', True),),
                    after=UUIDS[1],
                    limit=3,
                    deleted=True,
                )
            ],
            queries,
        )

    def test_creation_time_filters_sort_by_creation_time(self) -> None:
        _, queries = self.page(
            5, 'audits', limit=2, since='2030-01-31T08:00+02:00', until='2030-02-01'
        )
        first = datetime.datetime(2030, 1, 31, 6, tzinfo=datetime.UTC)
        last = datetime.datetime(2030, 2, 1, tzinfo=datetime.UTC)
        sort = (('created_at', False),)
        self.assertEqual([Query(sort=sort, limit=3, since=first, until=last)], queries)

    def test_page_size_has_configured_maximum(self) -> None:
        body, queries = self.page(5, limit=4, max_limit=2)
        self.assertEqual((2, 3), (len(body['actions']), queries[0].limit))

    def test_filter_by_deleted_state_needs_no_header(self) -> None:
        _, queries = self.page(1, 'action_plans', state='DELETED')
        self.assertTrue(queries[0].deleted)


class TestNextPage(PageCase):
    def test_last_page_has_no_next_link(self) -> None:
        self.assertNotIn('next', self.page(2, limit=2)[0])

    def test_next_link_has_all_arguments_of_page(self) -> None:
        body, _ = self.page(
            3,
            detail=True,
            limit=2,
            sort_key='state',
            sort_dir='desc',
            action_plan_uuid=UUIDS[4],
            target='a&b=c d',
            action_type='nop',
        )
        address, _, arguments = body['next'].partition('?')
        self.assertEqual('http://127.0.0.1:9322/v1/actions/detail', address)
        self.assertEqual(
            {
                'sort_key': 'state',
                'sort_dir': 'desc',
                'action_plan_uuid': UUIDS[4],
                'target': 'a&b=c d',
                'action_type': 'nop',
                'limit': '2',
                'marker': UUIDS[1],
            },
            dict(parse.parse_qsl(arguments)),
        )

    def test_next_links_return_every_row_once(self) -> None:
        seen: list[str] = []
        query: dict[str, Any] = {'limit': 2}
        for _ in UUIDS:
            body, _ = self.page(5, **query)
            seen += [row['uuid'] for row in body['actions']]
            if 'next' not in body:
                break
            query = dict(parse.parse_qsl(body['next'].partition('?')[2]))
            query['limit'] = int(query['limit'])
        self.assertEqual(UUIDS, seen)


class TestArgumentSchema(base.TestCase):
    def test_schema_has_only_filters_of_collection(self) -> None:
        common = {'limit', 'marker', 'sort_key', 'sort_dir'}
        for noun in SORT_KEYS:
            schema = pages.query_schema(noun)[1, 0]
            self.assertEqual(common | {*FILTERS[noun]}, set(schema['properties']))
            self.assertIs(False, schema['additionalProperties'])
            jsonschema.Draft202012Validator.check_schema(schema)

    def test_schema_has_states_of_collection(self) -> None:
        states = {
            noun: set(pages.query_schema(noun)[1, 0]['properties']['state']['enum'])
            for noun in ('actions', 'action_plans', 'audits')
        }
        self.assertIn('SKIPPED', states['actions'])
        self.assertNotIn('RUNNING', states['actions'])
        self.assertIn('SUPERSEDED', states['action_plans'])
        self.assertIn('SUSPENDED', states['audits'])

    def test_request_sets_every_field_of_a_query(self) -> None:
        fields = {field.name for field in dataclasses.fields(Query)}
        by_request = {'filters', 'sort', 'after', 'limit', 'deleted', 'since', 'until'}
        # The other APIs have these.
        self.assertEqual(by_request | {'nested', 'tenant'}, fields)
