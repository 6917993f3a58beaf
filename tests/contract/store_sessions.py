"""Contract of the store: sessions of the dashboard."""

import dataclasses
import datetime

from tests.contract.store_case import StoreCase
from tests.factories import NOW
from watcherlite.db.sessions import UserSession

HOUR = datetime.timedelta(hours=1)
SESSION = UserSession('d' * 64, {'token': 's3cret'}, NOW, NOW + HOUR)


class StoreSessionsContract(StoreCase):
    """Sessions are found by digest until they are deleted or purged."""

    def test_a_session_is_found_by_its_digest_until_it_is_deleted(self) -> None:
        other = dataclasses.replace(SESSION, digest='e' * 64)
        self.store.insert_session(SESSION)
        self.store.insert_session(other)

        self.assertEqual(SESSION, self.store.find_session(SESSION.digest))
        self.store.delete_session(SESSION.digest)
        self.store.delete_session(SESSION.digest)

        self.assertIsNone(self.store.find_session(SESSION.digest))
        self.assertEqual(other, self.store.find_session(other.digest))

    def test_a_new_session_purges_those_that_have_expired(self) -> None:
        begin = NOW + HOUR
        later = dataclasses.replace(
            SESSION,
            digest='e' * 64,
            created_at=begin + datetime.timedelta(microseconds=1),
            expires_at=begin + HOUR,
        )
        self.store.insert_session(SESSION)
        self.store.insert_session(dataclasses.replace(later, created_at=begin))
        self.assertEqual(SESSION, self.store.find_session(SESSION.digest))

        self.store.insert_session(dataclasses.replace(later, digest='f' * 64))

        self.assertIsNone(self.store.find_session(SESSION.digest))
