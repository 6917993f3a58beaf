"""The delegation of authority, with a fake keystone."""

import dataclasses
import datetime

from keystoneauth1 import exceptions as keystone_exceptions

from tests import base
from tests.factories import NOW
from watcherlite import exceptions
from watcherlite.api.operation import Caller
from watcherlite.db.credentials import Credential, owner_of
from watcherlite.plugins.openstack.delegation import PENDING, Delegations
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore

CALLER = Caller(
    user_id='ann', project_id='p', role_names=('reader', 'Member'), token='t0k3n'
)


class FakeKeystone:
    """Implements the part of `connections.Clouds` that delegation uses.

    :ivar trusts: id -> the body of its creation
    :ivar failure: raised by all calls
    :ivar disabled: the trusts and application credentials that keystone refuses
    """

    def __init__(self, is_configured=True):
        self.is_configured = is_configured
        self.trusts = {}
        self.used = []
        self.failure = None
        self.refuses_trusts = False
        self.disabled = set()
        self.uses_password = True
        self.session = self

    def service_connection(self):
        return self

    def get_user_id(self):
        return 'watcherlite'

    def identities(self):
        return self

    def plugin(self, credential):
        return credential

    def client(self, plugin):
        return _Client(self, 'service' if plugin is None else plugin.external_id)

    def user_client(self, token):
        return _Client(self, token)


@dataclasses.dataclass
class _Client:
    keystone: FakeKeystone
    authority: str

    def _used(self):
        if self.authority in self.keystone.disabled:
            raise keystone_exceptions.Unauthorized(
                'no', url='http://keystone/v3/auth/tokens'
            )
        if self.keystone.failure is not None:
            raise self.keystone.failure
        self.keystone.used.append(self.authority)

    def _check(self, path):
        if path.rpartition('/')[2] not in self.keystone.trusts:
            raise keystone_exceptions.NotFound('no trust')

    def post(self, path, json, log):
        if log:
            raise AssertionError('the response has a secret')
        self._used()
        if 'application_credential' in json:
            made = f'app-{len(self.keystone.used)}'
            self.keystone.trusts[made] = json['application_credential']
            return _Answer(
                {'application_credential': {'id': made, 'secret': f'secret of {made}'}}
            )
        if self.keystone.refuses_trusts:
            raise keystone_exceptions.Forbidden(
                'Delegated tokens cannot manage trusts', http_status=403
            )
        trust = f'trust-{len(self.keystone.used)}'
        self.keystone.trusts[trust] = json['trust']
        return _Answer({'trust': {'id': trust}})

    def get(self, path):
        self._used()
        self._check(path)

    def delete(self, path):
        self._used()
        self._check(path)
        del self.keystone.trusts[path.rpartition('/')[2]]


@dataclasses.dataclass
class _Answer:
    body: dict

    def json(self):
        return self.body


class DelegationCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)
        self.keystone = FakeKeystone()
        self.clock = ManualClock(NOW)
        self.delegations = Delegations(self.store, self.keystone, self.clock)

    def reference(self, caller=CALLER, renews=False, project='p'):
        return self.delegations.reference(caller, 'stack', project, renews)

    def newest(self):
        return self.store.find_credential('stack')


class TestDelegation(DelegationCase):
    def test_a_trust_has_the_roles_and_the_project_of_the_token(self):
        uuid = self.delegations.delegate(CALLER, 'stack')

        self.assertEqual(['t0k3n'], self.keystone.used)
        self.assertEqual(
            {
                'trustor_user_id': 'ann',
                'trustee_user_id': 'watcherlite',
                'project_id': 'p',
                'impersonation': True,
                'allow_redelegation': False,
                'roles': [{'name': 'Member'}, {'name': 'reader'}],
            },
            self.keystone.trusts['trust-1'],
        )
        self.assertEqual(
            Credential(
                uuid=uuid,
                kind='trust',
                user_id='ann',
                project_id='p',
                roles=('Member', 'reader'),
                external_id='trust-1',
                owner='stack',
                created_at=NOW,
            ),
            self.newest(),
        )

    def test_only_a_token_of_a_project_is_delegated_to_a_configured_cloud(self):
        for caller in (
            dataclasses.replace(CALLER, token=None),
            dataclasses.replace(CALLER, project_id=None),
            dataclasses.replace(CALLER, user_id=None),
        ):
            self.assertFalse(self.delegations.is_available_to(caller))
        without = Delegations(self.store, FakeKeystone(False), self.clock)
        self.assertFalse(without.is_available_to(CALLER))
        self.assertIsNone(without.reference(CALLER, 'stack', 'p', True))
        self.assertTrue(self.delegations.is_available_to(CALLER))

    def test_roles_that_keystone_does_not_know_are_forbidden(self):
        self.keystone.failure = keystone_exceptions.NotFound('Could not find role')

        error = self.assertRaises(
            exceptions.Forbidden, self.delegations.delegate, CALLER
        )

        self.assertIn('the delegation of authority', str(error))
        self.assertNotIn('t0k3n', str(error))

    def test_an_unavailable_keystone_is_reported(self):
        self.keystone.failure = keystone_exceptions.ConnectFailure('refused')

        self.assertRaises(
            exceptions.ServiceUnavailable, self.delegations.delegate, CALLER
        )
        self.assertRaises(exceptions.ServiceUnavailable, self.reference)

    def test_an_application_credential_replaces_a_trust_that_is_not_possible(self):
        for fake in ({'refuses_trusts': True}, {'uses_password': False}):
            self.keystone = FakeKeystone()
            self.delegations = Delegations(self.store, self.keystone, self.clock)
            for name, value in fake.items():
                setattr(self.keystone, name, value)

            uuid = self.delegations.delegate(CALLER, 'stack')

            newest = self.newest()
            ((made, body),) = self.keystone.trusts.items()
            self.assertEqual(
                ('application_credential', made, f'secret of {made}'),
                (newest.kind, newest.external_id, newest.secret),
            )
            self.assertEqual(
                {
                    'name': f'watcherlite-{uuid}',
                    'roles': [{'name': 'Member'}, {'name': 'reader'}],
                    'unrestricted': True,
                },
                body,
            )
            self.assertEqual(self.reference(), self.reference())
            self.assertEqual(made, self.keystone.used[-1])

    def test_a_rejection_names_the_requirement_of_application_credentials(self):
        self.keystone.failure = keystone_exceptions.Forbidden('no', http_status=403)

        error = self.assertRaises(
            exceptions.Forbidden, self.delegations.delegate, CALLER
        )

        self.assertIn('only if the application credential is unrestricted', str(error))


class TestReferences(DelegationCase):
    def test_the_credential_is_kept_while_nothing_changes(self):
        first = self.reference()

        self.assertEqual('stack', owner_of(first))
        self.assertEqual(first, self.reference())
        self.assertEqual(first, self.reference(renews=True))
        self.assertEqual(1, len(self.keystone.trusts))

    def test_a_deleted_trust_is_renewed_by_every_request(self):
        first = self.reference()
        self.keystone.trusts.clear()

        self.assertNotEqual(first, self.reference())

    def test_other_users_and_roles_renew_it_only_by_requests_that_renew(self):
        first = self.reference()
        for other in (
            dataclasses.replace(CALLER, user_id='bob'),
            dataclasses.replace(CALLER, role_names=('reader',)),
        ):
            self.assertEqual(first, self.reference(other))
            renewed = self.reference(other, renews=True)
            self.assertNotEqual(first, renewed)
            self.assertEqual(renewed, self.reference(CALLER))
            first = renewed
        self.assertEqual(('reader',), self.newest().roles)

    def test_callers_of_other_projects_delegate_nothing(self):
        admin = dataclasses.replace(CALLER, user_id='root', project_id='admin')

        self.assertIsNone(self.reference(admin, renews=True))
        first = self.reference()
        self.assertEqual(first, self.reference(admin, renews=True))

    def test_callers_without_a_token_use_the_existing_credential(self):
        first = self.reference()
        without = dataclasses.replace(CALLER, token=None)

        self.assertEqual(first, self.reference(without, renews=True))


class TestRevocation(DelegationCase):
    def test_a_trust_is_deleted_with_the_authority_of_its_user(self):
        self.delegations.delegate(CALLER, 'stack')

        self.assertEqual(1, self.delegations.revoke_unused())

        self.assertEqual({}, self.keystone.trusts)
        self.assertEqual('trust-1', self.keystone.used[-1])
        self.assertIsNone(self.newest())

    def test_it_remains_while_keystone_is_not_available(self):
        self.delegations.delegate(CALLER, 'stack')
        self.keystone.failure = keystone_exceptions.ConnectFailure('refused')

        self.assertRaises(exceptions.ServiceUnavailable, self.delegations.revoke_unused)

        self.assertIsNotNone(self.newest())

    def test_it_remains_while_the_service_is_refused(self):
        self.delegations.delegate(CALLER, 'stack')
        self.keystone.failure = keystone_exceptions.Unauthorized(
            'no', url='http://keystone/v3/auth/tokens'
        )

        for call in (self.delegations.revoke_unused, self.reference):
            error = self.assertRaises(exceptions.ConfigurationError, call)
            self.assertIn('the user and the password of [openstack]', str(error))
        self.assertIsNotNone(self.newest())

    def test_a_trust_that_its_user_cannot_delete_is_dropped_with_a_warning(self):
        self.delegations.delegate(CALLER, 'stack')
        self.keystone.disabled.add('trust-1')

        self.assertEqual(1, self.delegations.revoke_unused())

        self.assertIn('of user ann remains in keystone', self.log.output)
        self.assertIsNone(self.newest())

    def test_a_refused_application_credential_is_dropped(self):
        self.keystone.uses_password = False
        self.delegations.delegate(CALLER, 'stack')
        self.keystone.failure = keystone_exceptions.Unauthorized(
            'no', url='http://keystone/v3/auth/tokens'
        )

        self.assertEqual(1, self.delegations.revoke_unused())
        self.assertIsNone(self.newest())

    def test_a_deleted_trust_is_dropped(self):
        self.delegations.delegate(CALLER, 'stack')
        self.keystone.trusts.clear()

        self.assertEqual(1, self.delegations.revoke_unused())
        self.assertIsNone(self.newest())

    def test_a_credential_without_owner_is_revoked_after_its_request(self):
        self.delegations.delegate(CALLER)
        self.assertEqual(0, self.delegations.revoke_unused())

        self.clock.advance((PENDING + datetime.timedelta(seconds=1)).total_seconds())

        self.assertEqual(1, self.delegations.revoke_unused())
        self.assertEqual({}, self.keystone.trusts)

    def test_a_withdrawn_credential_is_revoked_unless_it_has_an_owner(self):
        uuid, owned = (
            self.delegations.delegate(CALLER),
            self.delegations.delegate(CALLER, 'stack'),
        )

        self.delegations.withdraw(uuid)
        self.delegations.withdraw(uuid)
        self.delegations.withdraw(owned)

        self.assertEqual(['trust-2'], list(self.keystone.trusts))

    def test_a_withdrawal_that_fails_is_left_to_the_reconciler(self):
        uuid = self.delegations.delegate(CALLER)
        self.keystone.failure = keystone_exceptions.ConnectFailure('refused')

        self.delegations.withdraw(uuid)

        self.assertIsNotNone(self.store.get_credential(uuid))
