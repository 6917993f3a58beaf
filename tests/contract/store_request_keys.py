"""Contract of the store: idempotency keys."""

import datetime

from tests.contract.cluster_case import ClusterCase, make_receiver
from tests.factories import NOW
from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.db.request_keys import RequestKey, RequestRecord
from watcherlite.domain.clusters import Receiver

KEY = RequestKey('d' * 64, 'f' * 64, NOW)


class StoreRequestKeysContract(ClusterCase):
    """A key is stored exactly if the objects of its request are."""

    def create(self, record: RequestRecord, *receivers: Receiver) -> None:
        with record.active(), self.store.transaction() as tx:
            for receiver in receivers:
                tx.insert_object(receiver)

    def names(self) -> list[str]:
        return [row.name for row in self.store.list_objects(Receiver, Query())]

    def test_a_key_is_stored_with_the_created_objects(self) -> None:
        one, two = make_receiver(name='one'), make_receiver(name='two')
        record = RequestRecord(KEY)

        self.create(record, one, two)
        self.create(record, make_receiver(name='more'))

        found = self.store.find_request_key(KEY.digest)
        self.assertEqual(
            (
                RequestKey(KEY.digest, KEY.fingerprint, NOW, {'receiver': one.uuid}),
                True,
            ),
            (found, record.committed),
        )
        self.assertEqual(['one', 'two', 'more'], self.names())

    def test_a_repeated_key_creates_nothing(self) -> None:
        self.create(RequestRecord(KEY), make_receiver(name='one'))
        again = RequestRecord(KEY)

        with self.assertRaises(exceptions.RequestKeyTaken):
            self.create(again, make_receiver(name='two'))

        self.assertEqual((['one'], False), (self.names(), again.committed))

    def test_a_rollback_removes_key_and_objects(self) -> None:
        record = RequestRecord(KEY)

        def fail() -> None:
            with record.active(), self.store.transaction() as tx:
                tx.insert_object(make_receiver(name='one'))
                raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, fail)
        self.assertFalse(record.committed)
        self.create(record)
        self.create(RequestRecord(None), make_receiver(name='without'))

        self.assertIsNone(self.store.find_request_key(KEY.digest))
        self.assertEqual(['without'], self.names())

    def test_old_keys_are_purged(self) -> None:
        self.create(RequestRecord(KEY), make_receiver())

        self.assertEqual(0, self.store.purge_request_keys(NOW))
        later = NOW + datetime.timedelta(microseconds=1)
        self.assertEqual(1, self.store.purge_request_keys(later))
        self.assertIsNone(self.store.find_request_key(KEY.digest))
