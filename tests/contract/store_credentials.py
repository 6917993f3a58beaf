"""Contract of the store: credentials of users."""

import dataclasses
import datetime
from typing import Any

from tests.contract.cluster_case import ClusterCase
from tests.contract.stack_case import StackCase
from tests.factories import NOW, new_uuid
from watcherlite.db.credentials import (
    APPLICATION_CREDENTIAL,
    TRUST,
    Credential,
    owner_of,
    reference_to,
)

MINUTE = datetime.timedelta(minutes=1)
CREDENTIAL = Credential(
    uuid='c' * 36,
    kind=TRUST,
    user_id='user',
    project_id='project',
    roles=('member', 'reader'),
    external_id='trust-1',
    owner='o' * 36,
    created_at=NOW,
)


def make_credential(**values: Any) -> Credential:
    """Return a credential with a uuid of its own."""
    return dataclasses.replace(CREDENTIAL, **{'uuid': new_uuid(), **values})


class StoreCredentialsContract(ClusterCase, StackCase):
    """Credentials belong to an owner, and are found until they are deleted."""

    def unused(self) -> list[str]:
        found = self.store.unused_credentials(NOW - MINUTE, 100)
        return [credential.uuid for credential in found]

    def test_the_newest_credential_of_an_owner_is_found_with_its_secret(self) -> None:
        first = make_credential()
        second = make_credential(
            kind=APPLICATION_CREDENTIAL, external_id='app-1', secret='s3cret', roles=()
        )
        self.store.insert_credential(first)
        self.assertEqual(first, self.store.find_credential(CREDENTIAL.owner or ''))

        self.store.insert_credential(second)

        self.assertEqual(second, self.store.find_credential(CREDENTIAL.owner or ''))
        self.assertIsNone(self.store.find_credential(new_uuid()))
        self.store.delete_credential(second.uuid)
        self.store.delete_credential(second.uuid)
        self.assertEqual(first, self.store.find_credential(CREDENTIAL.owner or ''))

    def test_an_owner_is_assigned_once(self) -> None:
        credential = make_credential(owner=None)
        self.store.insert_credential(credential)

        for owner in ('1' * 36, '2' * 36):
            self.commit(lambda tx, o=owner: tx.assign_credential(credential.uuid, o))

        self.assertEqual(
            dataclasses.replace(credential, owner='1' * 36),
            self.store.find_credential('1' * 36),
        )
        self.assertIsNone(self.store.find_credential('2' * 36))

    def test_credentials_of_deleted_owners_are_unused(self) -> None:
        stack = self.insert_stack()
        cluster = self.insert_cluster(profile_id=self.insert_profile().id)
        mine = make_credential(owner=stack.uuid)
        its = make_credential(owner=cluster.uuid)
        lost = make_credential(owner=new_uuid())
        for credential in (mine, its, lost):
            self.store.insert_credential(credential)
        self.assertEqual([lost.uuid], self.unused())

        self.delete_stack(stack)
        self.delete_softly(cluster)

        self.assertEqual([mine.uuid, its.uuid, lost.uuid], self.unused())
        self.assertEqual([mine], self.store.unused_credentials(NOW - MINUTE, 1))

    def test_a_renewed_credential_is_unused(self) -> None:
        stack = self.insert_stack()
        old, new = (make_credential(owner=stack.uuid) for _ in range(2))
        self.store.insert_credential(old)
        self.assertEqual([], self.unused())

        self.store.insert_credential(new)

        self.assertEqual([old.uuid], self.unused())

    def test_a_credential_without_owner_is_unused_after_a_while(self) -> None:
        fresh = make_credential(owner=None, created_at=NOW - MINUTE)
        old = make_credential(owner=None, created_at=NOW - 2 * MINUTE)
        for credential in (fresh, old):
            self.store.insert_credential(credential)

        self.assertEqual([old.uuid], self.unused())

    def test_a_reference_has_its_owner(self) -> None:
        self.assertEqual('o', owner_of(reference_to('o', 'c')))
        self.assertEqual('o', owner_of('o'))
