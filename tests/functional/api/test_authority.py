"""Requests on stacks and clusters delegate the authority of their callers."""

import itertools
from typing import Any

from falcon import testing

from tests import base
from tests.factories import NOW
from tests.functional.api.fixtures import ApiFixture
from watcherlite import exceptions
from watcherlite.db.credentials import AUTHORITY, TRUST, Credential, reference_to
from watcherlite.domain.clusters import Cluster

STACKS = '/orchestration/v1/p/stacks'
CLUSTERING = '/clustering/v1'
TEMPLATE = {
    'heat_template_version': '2021-04-16',
    'resources': {'a': {'type': 'OS::Heat::None'}},
}


class FakeDelegations:
    """Implements `Delegations` without keystone.

    :ivar calls: of `reference`: owner, project, renews
    :ivar failure: raised by `delegate`
    """

    def __init__(self, store: Any) -> None:
        self.calls: list[tuple[str, str, bool]] = []
        self.withdrawn: list[str] = []
        self.failure: Exception | None = None
        self._store = store
        self._numbers = itertools.count(1)

    def is_available_to(self, caller: Any) -> bool:
        return True

    def delegate(self, caller: Any) -> str:
        if self.failure is not None:
            raise self.failure
        uuid = f'credential-{next(self._numbers)}'
        self._store.insert_credential(
            Credential(uuid, TRUST, 'u', 'p', (), 'trust', created_at=NOW)
        )
        return uuid

    def withdraw(self, uuid: str) -> None:
        self.withdrawn.append(uuid)

    def reference(self, caller: Any, owner: str, project: str, renews: bool) -> str:
        self.calls.append((owner, project, renews))
        return reference_to(owner, 'renewed')


class DelegatingFixture(ApiFixture):
    """The API of a cloud."""

    def prepare(self) -> None:
        self.fake = FakeDelegations(self.runtime.store)
        self.runtime.delegations = self.fake


class AuthorityCase(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        site = DelegatingFixture.of(self)
        self.store, self.fake = site.runtime.store, site.fake
        application = site.application
        self.client = testing.TestClient(
            lambda environ, start_response: application(environ, start_response)
        )

    def ask(self, method: str, path: str, body: Any = None) -> testing.Result:
        return self.client.simulate_request(method, path, json=body, host='localhost')

    def owner_of(self, number: int) -> str | None:
        credential = self.store.get_credential(f'credential-{number}')
        return None if credential is None else credential.owner

    def authorities(self, target: str) -> list[str | None]:
        """Return the authority of each action of a target, the oldest first."""
        with self.store.engine.connect() as connection:
            uuids = connection.exec_driver_sql(
                'SELECT uuid FROM actions WHERE target = ? ORDER BY id', (target,)
            ).scalars()
            return [self.store.get_action(u).context.get(AUTHORITY) for u in uuids]


class TestStacks(AuthorityCase):
    def create(self, name: str = 's', template: Any = TEMPLATE) -> testing.Result:
        return self.ask('POST', STACKS, {'stack_name': name, 'template': template})

    def test_a_new_stack_gets_the_authority_of_its_caller(self) -> None:
        uuid = self.create().json['stack']['id']

        self.assertEqual(uuid, self.owner_of(1))
        reference = reference_to(uuid, 'credential-1')
        stack = self.store.find_stack(uuid, None)
        self.assertEqual(reference, stack.context[AUTHORITY])

    def test_a_refused_creation_withdraws_it_and_an_invalid_one_has_none(self) -> None:
        self.create()

        invalid = self.create('t', {**TEMPLATE, 'resources': {'a': {'type': 'No'}}})
        refused = self.create()

        self.assertEqual([400, 409], [invalid.status_code, refused.status_code])
        self.assertEqual(['credential-2'], self.fake.withdrawn)

    def test_without_keystone_the_creation_is_unavailable(self) -> None:
        text = 'the delegation of authority: the identity service is not available'
        self.fake.failure = exceptions.ServiceUnavailable(text)

        answer = self.create()

        self.assertEqual(503, answer.status_code)
        self.assertEqual(text, answer.json['error']['message'])
        self.assertIn('Retry-After', answer.headers)

    def test_other_requests_use_the_authority_of_the_stack(self) -> None:
        uuid = self.create().json['stack']['id']
        place = f'{STACKS}/s/{uuid}'

        answers = [
            self.ask('PUT', place, {'template': TEMPLATE}),
            self.ask('PATCH', place, {}),
            self.ask('POST', f'{place}/actions', {'cancel_without_rollback': None}),
            self.ask('DELETE', place),
        ]

        self.assertNotIn(500, [answer.status_code for answer in answers])
        self.assertEqual(
            [(uuid, 'p', renews) for renews in (True, True, False, False)],
            self.fake.calls,
        )
        self.assertEqual(
            reference_to(uuid, 'renewed'), self.authorities(f'stack:{uuid}')[-1]
        )


class TestClusters(AuthorityCase):
    def create(self, noun: str, **body: Any) -> str:
        answer = self.ask('POST', f'{CLUSTERING}/{noun}s', {noun: body})
        self.assertIn(answer.status_code, (201, 202), answer.text)
        uuid: str = answer.json[noun]['id']
        return uuid

    def setUp(self) -> None:
        super().setUp()
        spec = {'type': 'os.heat.test_resource', 'version': '1.0', 'properties': {}}
        self.create('profile', name='sample', spec=spec)

    def test_clusters_receivers_and_nodes_get_the_authority_of_their_caller(
        self,
    ) -> None:
        cluster = self.create('cluster', name='c', profile_id='sample')
        receiver = self.create(
            'receiver',
            name='r',
            type='webhook',
            cluster_id='c',
            action='CLUSTER_SCALE_OUT',
        )
        node = self.create('node', name='n', profile_id='sample')

        self.assertEqual(
            [cluster, receiver, node], [self.owner_of(n) for n in (1, 2, 3)]
        )
        self.assertEqual(
            [[reference_to(cluster, 'credential-1')], []],
            [self.authorities(uuid) for uuid in (cluster, receiver)],
        )
        self.assertEqual([reference_to(node, 'credential-3')], self.authorities(node))

    def test_a_webhook_has_the_authority_of_its_receiver(self) -> None:
        cluster = self.create('cluster', name='c', profile_id='sample')
        answer = self.ask(
            'POST',
            f'{CLUSTERING}/receivers',
            {
                'receiver': {
                    'name': 'r',
                    'type': 'webhook',
                    'cluster_id': 'c',
                    'action': 'CLUSTER_CHECK',
                }
            },
        )
        receiver = answer.json['receiver']
        url = receiver['channel']['alarm_url'].partition('/clustering')[2]

        triggered = self.client.simulate_post(
            f'/clustering{url.partition("?")[0]}',
            query_string=f'{url.partition("?")[2]}&wait=true',
            host='localhost',
        )

        self.assertEqual(202, triggered.status_code, triggered.text)
        self.assertEqual(receiver['id'], self.authorities(cluster)[-1])

    def test_requests_on_a_cluster_use_its_authority(self) -> None:
        uuid = self.create('cluster', name='c', profile_id='sample')
        place = f'{CLUSTERING}/clusters/{uuid}'
        project = self.store.find_object(Cluster, uuid, None).owner.tenant

        for method, path, body in (
            ('PATCH', place, {'cluster': {'name': 'd'}}),
            ('POST', f'{place}/actions', {'check': {}}),
            ('DELETE', place, None),
        ):
            self.ask(method, path, body)

        self.assertEqual(
            [(uuid, project, renews) for renews in (True, False, False)],
            self.fake.calls,
        )
