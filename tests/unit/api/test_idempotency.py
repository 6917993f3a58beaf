"""A request that is repeated with its key is executed once."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests import base
from tests.contract.cluster_case import make_receiver
from watcherlite import exceptions
from watcherlite.api.idempotency import HEADER, Idempotency
from watcherlite.api.operation import Caller, Operation, Request, Response
from watcherlite.db.query import Query
from watcherlite.domain.clusters import Receiver
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore

LIFETIME = 100
CUT = exceptions.CommitOutcomeUnknown('no answer')


class IdempotencyCase(base.TestCase):
    """An operation that creates a receiver, named in the body."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.addCleanup(self.store.close)
        self.idempotency = Idempotency(self.store, self.clock, LIFETIME)
        #: Called after the commit.
        self.afterwards: Callable[[], None] = lambda: None
        self.before: Callable[[], None] = lambda: None

    def create(self, request: Request) -> Response:
        self.before()
        receiver = make_receiver(name=request.body)
        with self.store.transaction() as tx:
            tx.insert_object(receiver)
        self.afterwards()
        return Response({'id': receiver.uuid}, 201)

    def restore(self, request: Request, created: Mapping[str, str]) -> Response:
        row = self.store.find_object(Receiver, created['receiver'], None)
        return Response({'id': row.uuid}, 201)

    def ask(
        self,
        key: str | None = 'key-1',
        body: str = 'one',
        user: str = 'ada',
        project: str | None = None,
        method: str = 'POST',
        rule: str | None = 'receivers:create',
        query: str = '',
    ) -> Response:
        services: Any = None
        request = Request(
            services,
            (1, 0),
            Caller(user_id=user, project_id=project),
            {},
            {},
            body,
            '',
            '',
            'req-1',
            route_path='/v1/receivers',
            query_string=query,
        )
        operation = Operation(self.create, rule, 'Create.', restore=self.restore)
        return self.idempotency.call(operation, request, method, '/clustering', key)

    def created(self) -> list[str]:
        return [row.name for row in self.store.list_objects(Receiver, Query())]

    def failing(self, error: Exception) -> Callable[[], None]:
        def call() -> None:
            raise error

        return call


class TestRepeatedRequests(IdempotencyCase):
    def test_repeated_request_returns_created_object(self) -> None:
        first = self.ask()
        second, quoted = self.ask(), self.ask('"key-1"')

        self.assertEqual(
            (['one'], first.body, {'Idempotency-Replayed': 'true'}, second),
            (self.created(), second.body, second.headers, quoted),
        )
        self.assertEqual({}, first.headers)

    def test_requests_without_key_are_all_executed(self) -> None:
        self.ask(None)
        self.ask(None)
        self.ask('other')

        self.assertEqual(['one'] * 3, self.created())

    def test_key_is_valid_for_one_request_of_one_user_and_project(self) -> None:
        self.ask()

        for values in ({'body': 'two'}, {'query': 'wait=true'}):
            with self.subTest(values=values):
                self.assertRaises(exceptions.RequestKeyReused, self.ask, **values)
        self.ask(user='eve', body='hers')
        self.ask(project='other', body='there')
        self.assertEqual(['one', 'hers', 'there'], self.created())

    def test_webhook_url_identifies_caller(self) -> None:
        self.ask(rule=None, query='token=a')
        self.ask(rule=None, query='token=a')
        self.ask(rule=None, query='token=b', body='two')

        self.assertEqual(['one', 'two'], self.created())

    def test_invalid_key_is_rejected(self) -> None:
        for key in ('', ' ', 'a b', '\u00e9', 'x' * 256, '""'):
            error = self.assertRaises(exceptions.Invalid, self.ask, key)
            self.assertIn(HEADER, str(error))

    def test_key_expires_after_its_lifetime(self) -> None:
        self.ask()
        self.clock.advance(LIFETIME)
        self.ask()
        self.clock.advance(1)
        self.ask(body='two')

        self.assertEqual(['one', 'two'], self.created())

    def test_deleted_object_is_not_created_again(self) -> None:
        made = self.ask()
        row = self.store.find_object(Receiver, made.body['id'], None)
        with self.store.transaction() as tx:
            tx.delete_object(row)

        error = self.assertRaises(exceptions.RequestDone, self.ask)
        self.assertEqual(
            f'The request took effect before. It created: receiver {row.uuid}',
            str(error),
        )


class TestLostResponses(IdempotencyCase):
    away = exceptions.StoreUnavailable('The database is away')

    def test_failure_before_commit_has_no_effect(self) -> None:
        self.before = self.failing(self.away)

        for key in ('key-1', None):
            error = self.assertRaises(exceptions.StoreUnavailable, self.ask, key)
            self.assertIs(self.away, error)
        self.assertEqual([], self.created())

    def test_key_finds_created_object_after_failure_after_commit(self) -> None:
        self.afterwards = self.failing(self.away)

        answer = self.ask()

        (row,) = self.store.list_objects(Receiver, Query())
        self.assertEqual((201, {'id': row.uuid}), (answer.status, answer.body))

    def test_outcome_is_unknown_without_key(self) -> None:
        self.afterwards = self.failing(self.away)

        error = self.assertRaises(exceptions.OutcomeUnknown, self.ask, None)

        self.assertIn('may have taken effect. Check the result', str(error))
        self.assertRaises(exceptions.OutcomeUnknown, self.ask, None, method='PUT')

    def test_unknown_outcome_of_commit_is_resolved_by_key(self) -> None:
        self.lose_connection(has_effect=True)
        found = self.ask()
        self.assertRaises(exceptions.OutcomeUnknown, self.ask, None)
        self.lose_connection(has_effect=False)
        error = self.assertRaises(exceptions.OutcomeUnknown, self.ask, 'key-2')

        (row, _) = self.store.list_objects(Receiver, Query())
        self.assertEqual({'id': row.uuid}, found.body)
        self.assertIn('Repeat it with the same Idempotency-Key', str(error))

    def lose_connection(self, has_effect: bool) -> None:
        """Lose the response to every COMMIT from now on."""
        begin = self.store._begin

        @contextlib.contextmanager
        def transaction() -> Iterator[Any]:
            with begin() as tx:
                yield tx
                if not has_effect:
                    raise CUT
            raise CUT

        vars(self.store)['_begin'] = transaction


class TestConcurrentRequests(IdempotencyCase):
    def test_second_concurrent_request_with_same_key_rolls_back(self) -> None:
        first: list[Response] = []

        def overtake() -> None:
            self.before = lambda: None
            first.append(self.ask())

        self.before = overtake

        second = self.ask()

        self.assertEqual((['one'], first[0].body), (self.created(), second.body))

    def test_conflict_with_own_object_is_a_replay(self) -> None:
        first: list[Response] = []

        def overtake() -> None:
            self.before = lambda: None
            first.append(self.ask())
            raise exceptions.BadRequest('The name is taken')

        self.before = overtake

        self.assertEqual(self.ask().body, first[0].body)
        self.assertEqual(['one'], self.created())
