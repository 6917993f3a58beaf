"""Requests that change something are recorded without their secrets."""

import datetime
import json
from typing import Any

from tests import base
from tests.contract.cluster_case import (
    make_cluster,
    make_node,
    make_profile,
    make_receiver,
)
from tests.factories import make_action, make_audit, make_goal, make_plan
from watcherlite import exceptions
from watcherlite.api import request_records
from watcherlite.api.idempotency import PURGE_INTERVAL, Idempotency
from watcherlite.api.operation import Caller, Operation, Request, Response
from watcherlite.db.query import Query
from watcherlite.db.requests import RecordedRequest, RequestQuery
from watcherlite.domain.clusters import Receiver
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore

BODY = {'name': 'one', 'password': 'hunter2', 'params': {'a': 1, 'token': 'x'}}
CALLER = Caller('u-1', 'ada', 'p-1', frozenset({'reader', 'member'}))


def make_request(
    body: Any = None, path: str = '/v1/receivers', **names: str
) -> Request:
    services: Any = None
    return Request(
        services, (1, 0), CALLER, names, {}, body, '', '', 'req-1', route_path=path
    )


class RecordCase(base.TestCase):
    """Requests whose operation is a function of a transaction."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.seconds = 0.0
        self.store = MemoryStore(self.clock)
        self.addCleanup(self.store.close)
        self.idempotency = Idempotency(
            self.store, self.clock, 100, 1.5, monotonic=lambda: self.seconds
        )

    def send(
        self,
        change: Any,
        request: Request,
        method: str = 'POST',
        rule: str | None = 'x',
    ) -> None:
        def call(request: Request) -> Response:
            with self.store.transaction() as tx:
                change(tx)
            return Response()

        operation = Operation(call, rule, 'Change.')
        self.idempotency.call(operation, request, method, '/mount', None)

    def recorded(self) -> list[RecordedRequest]:
        found = self.store.list_requests(RequestQuery())
        return [stored.request for stored in found]

    def receivers(self) -> list[Receiver]:
        return self.store.list_objects(Receiver, Query())

    def subject(self) -> tuple[str | None, str | None, str | None, bool]:
        """Return the object of the latest request."""
        last = self.recorded()[0]
        return last.object_type, last.object_uuid, last.object_name, last.created


class TestRecords(RecordCase):
    def test_request_is_recorded_with_created_object(self) -> None:
        receiver = make_receiver(name='one')

        self.send(lambda tx: tx.insert_object(receiver), make_request(BODY))

        expected = RecordedRequest(
            'req-1',
            self.clock.now(),
            'u-1',
            'ada',
            'p-1',
            ('member', 'reader'),
            'POST',
            '/mount/v1/receivers',
            {'name': 'one', 'password': '***', 'params': ['a', 'token']},
            'receiver',
            receiver.uuid,
            'one',
            True,
        )
        self.assertEqual([expected], self.recorded())

    def test_requests_without_changes_are_not_recorded(self) -> None:
        def refuse(tx: Any) -> None:
            tx.insert_object(make_receiver())
            raise exceptions.Invalid('no')

        self.send(lambda tx: None, make_request())
        with self.assertRaises(exceptions.Invalid):
            self.send(refuse, make_request())

        self.assertEqual([], self.recorded())

    def test_request_with_several_transactions_has_one_record(self) -> None:
        def call(request: Request) -> Response:
            for name in ('one', 'two'):
                with self.store.transaction() as tx:
                    tx.insert_object(make_receiver(name=name))
            return Response()

        operation = Operation(call, 'x', 'Change.')
        self.idempotency.call(operation, make_request(), 'POST', '', None)

        self.assertEqual(['one'], [one.object_name for one in self.recorded()])

    def test_path_variables_of_public_operation_are_not_recorded(self) -> None:
        secret = make_request(None, '/v1/webhooks/a%2Fb', webhook='a/b')

        self.send(lambda tx: tx.insert_object(make_receiver()), secret, rule=None)

        self.assertEqual('/mount/v1/webhooks/{webhook}', self.recorded()[0].path)

    def test_records_older_than_retention_are_purged(self) -> None:
        def create(name: str) -> None:
            self.send(
                lambda tx: tx.insert_object(make_receiver(name=name)), make_request()
            )

        create('old')
        self.clock.advance(datetime.timedelta(days=1).total_seconds())
        create('new')
        self.clock.advance(datetime.timedelta(days=1).total_seconds())
        self.seconds = PURGE_INTERVAL
        create('last')

        names = [one.object_name for one in self.recorded()]
        self.assertEqual(['last', 'new'], names)


class TestRecordedObject(RecordCase):
    """The object of a request, if it changes several."""

    def test_object_in_path_is_preferred(self) -> None:
        one, two = make_receiver(name='one'), make_receiver(name='two')

        def change(tx: Any) -> None:
            for receiver in (one, two, make_receiver(name='three')):
                tx.insert_object(receiver)

        for name in (two.name, two.uuid):
            with self.subTest(name=name):
                address = make_request(None, '/v1/x', outer='one', inner=name)
                self.send(change, address)
                self.assertEqual(('receiver', two.uuid, 'two', True), self.subject())
                self.send(
                    lambda tx: [tx.delete_object(r) for r in self.receivers()], address
                )
                self.assertEqual(('receiver', two.uuid, 'two', False), self.subject())

    def test_target_of_action_is_preferred_to_action(self) -> None:
        target = 'c' * 36
        action = make_action(action_type='CLUSTER_CHECK', target=target)

        self.send(lambda tx: tx.insert_actions([action], []), make_request())

        self.assertEqual(('cluster', target, None, False), self.subject())

    def test_created_object_is_preferred_to_changed_objects(self) -> None:
        with self.store.transaction() as tx:
            profile = tx.insert_object(make_profile())
            cluster = tx.insert_object(make_cluster(profile, name='c'))
        action, node = make_action(), make_node(cluster, name='n')

        def change(tx: Any) -> None:
            tx.save_clusters(tx.lock_clusters([cluster.uuid]).values())
            tx.insert_actions([action], [])
            tx.insert_nodes([node])

        self.send(change, make_request())
        self.assertEqual(('node', node.uuid, 'n', True), self.subject())

        def save(tx: Any) -> None:
            tx.save_clusters(iter(tx.lock_clusters([cluster.uuid]).values()))

        self.send(save, make_request(), 'PATCH')
        self.assertEqual(('cluster', cluster.uuid, 'c', False), self.subject())

    def test_plan_is_preferred_to_its_audit(self) -> None:
        with self.store.transaction() as tx:
            goal = tx.ensure_goal(make_goal())
        audit, plan = make_audit(goal.id), make_plan()

        self.send(lambda tx: tx.insert_audit(audit), make_request())
        of_audit = self.subject()

        def create(tx: Any) -> None:
            tx.insert_audit(make_audit(goal.id))
            tx.insert_plan(plan)

        self.send(create, make_request())
        self.assertEqual(
            [
                ('audit', audit.uuid, audit.name, True),
                ('action_plan', plan.uuid, plan.name, True),
            ],
            [of_audit, self.subject()],
        )


class TestSummarize(base.TestCase):
    def test_summary_has_no_secrets_and_limited_size(self) -> None:
        long, many = 'x' * 300, {str(number): 0 for number in range(30)}
        patch = [
            {'op': 'replace', 'path': '/state', 'value': 'SKIPPED'},
            {'op': 'add', 'path': '/parameters/secret_word', 'value': 'abc'},
            {'op': 'remove', 'path': '/parameters'},
        ]
        twenty = [str(number) for number in range(20)]
        for expected, body in (
            (None, None),
            ({}, {}),
            ({'action': 'mark_unhealthy'}, {'action': 'mark_unhealthy'}),
            ({'n': 1, 'ok': True, 'none': None}, {'n': 1, 'ok': True, 'none': None}),
            ([patch[0], {**patch[1], 'value': '***'}, patch[2]], patch),
            (
                {'template': ['a'], 'files': '***', 'spec': None, 'data': {}},
                {'template': {'a': 'b'}, 'files': 'text', 'spec': None, 'data': {}},
            ),
            ({'params': [*twenty, '...']}, {'params': many}),
            ({**dict.fromkeys(twenty, 0), '...': '...'}, many),
            ([*range(20), '...'], list(range(25))),
            ({'a': long[:252] + '...'}, {'a': long}),
            ({'a': {'b': {'c': '...'}}}, {'a': {'b': {'c': {'d': 1}}}}),
            ({'url': 'amqp://user:***@host'}, {'url': 'amqp://user:pass@host'}),
        ):
            with self.subTest(body=str(body)[:80]):
                summary = request_records.summarize(body)
                self.assertEqual(expected, summary)
                self.assertEqual(expected, json.loads(json.dumps(summary)))

    def test_credential_across_text_limit_is_masked(self) -> None:
        url = 'amqp://user:' + 'p' * 300 + '@host'
        self.assertEqual('amqp://user:***@host', request_records.summarize(url))

    def test_large_object_is_reduced_to_its_keys(self) -> None:
        body = {str(number): ['x' * 255] * 20 for number in range(3)}
        self.assertEqual(['0', '1', '2'], request_records.summarize(body))
        self.assertEqual('...', request_records.summarize(list(body.values())))
