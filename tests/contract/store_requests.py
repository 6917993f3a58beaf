"""Contract of the store: recorded requests."""

import dataclasses
import datetime
from typing import Any
from unittest import mock

from tests.contract.store_case import StoreCase
from tests.factories import NOW
from watcherlite.db.requests import RecordedRequest, RequestQuery
from watcherlite.db.sqlalchemy import database

SECOND = datetime.timedelta(seconds=1)
ONE, TWO = 'a' * 36, 'b' * 36
SKIPPED = RecordedRequest(
    'req-1',
    NOW,
    'u-1',
    'ada',
    'p-1',
    ('member', 'reader'),
    'PATCH',
    '/v1/actions/a',
    [{'op': 'replace', 'path': '/state', 'value': 'SKIPPED'}],
    'action',
    ONE,
    'restart',
)
ANONYMOUS = RecordedRequest(
    'req-2', NOW, None, None, None, (), 'POST', '/v1/webhooks/{audit}', {}
)


class StoreRequestsContract(StoreCase):
    """Requests are inserted in transactions, listed by time, and purged by age."""

    def record(self, *recorded: RecordedRequest) -> None:
        with self.store.transaction() as tx:
            for request in recorded:
                tx.insert_request(request)

    def recorded_ids(self, **query: Any) -> list[str]:
        found = self.store.list_requests(RequestQuery(**query))
        return [stored.request.request_id for stored in found]

    def test_recorded_requests_are_read_as_they_were_written(self) -> None:
        self.record(SKIPPED, ANONYMOUS)

        found = self.store.list_requests(RequestQuery())

        self.assertEqual([ANONYMOUS, SKIPPED], [stored.request for stored in found])

    def test_a_request_of_a_rolled_back_transaction_is_not_recorded(self) -> None:
        def fail() -> None:
            with self.store.transaction() as tx:
                tx.insert_request(SKIPPED)
                raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, fail)
        self.assertEqual([], self.recorded_ids())

    def test_recorded_requests_are_listed_by_each_filter(self) -> None:
        change = dataclasses.replace
        later = change(SKIPPED, request_id='later', occurred_at=NOW + SECOND)
        self.record(
            later,
            change(SKIPPED, request_id='first', occurred_at=NOW - SECOND),
            change(SKIPPED, request_id='by id', user_id='ada', user_name='b'),
            change(SKIPPED, request_id='by both', user_id='ada'),
            change(SKIPPED, request_id='other', user_name='eve', object_uuid=TWO),
            change(SKIPPED, request_id='elsewhere', user_name='eve', project_id='p-2'),
        )
        found = self.store.list_requests(RequestQuery())
        sequences = {one.request.request_id: one.sequence for one in found}
        ada = ['later', 'by both', 'by id', 'first']
        for expected, query in (
            (['later', 'elsewhere', 'other', 'by both', 'by id', 'first'], {}),
            (['later', 'elsewhere'], {'limit': 2}),
            (ada, {'user': 'ada'}),
            (ada[:3], {'user': 'ada', 'limit': 3}),
            (ada[:3], {'user': 'ada', 'since': NOW}),
            (['elsewhere'], {'user': 'eve', 'project_id': 'p-2'}),
            (['other'], {'object_uuid': TWO}),
            ([], {'object_uuid': TWO, 'user': 'ada'}),
            (['later'], {'since': NOW + SECOND}),
            (['first'], {'until': NOW - SECOND}),
            (['first'], {'before': (NOW, 0)}),
            (
                ['other', 'by both', 'by id', 'first'],
                {'before': (NOW, sequences['elsewhere'])},
            ),
            (
                ['by id', 'first'],
                {'before': (NOW, sequences['by both']), 'user': 'ada'},
            ),
        ):
            with self.subTest(query=query):
                self.assertEqual(expected, self.recorded_ids(**query))

    def test_recorded_requests_are_purged_by_age(self) -> None:
        earlier = dataclasses.replace(SKIPPED, occurred_at=NOW - SECOND)
        self.record(SKIPPED, *[earlier] * 6, ANONYMOUS)

        with mock.patch.object(database, 'BATCH', 3):
            purged = [self.store.purge_requests(NOW) for _ in range(2)]

        self.assertEqual(([6, 0], ['req-2', 'req-1']), (purged, self.recorded_ids()))
