"""Work for a user is done with the authority of the user, by trusts of keystone."""

import dataclasses
import json
import logging
import urllib.parse
import uuid

import sqlalchemy as sa

from tests import bounded
from tests.cloud import api_case, case
from tests.functional.messaging.proxy import Proxy
from tests.functional.plugins.http_server import Server
from watcherlite import exceptions
from watcherlite.api import operation
from watcherlite.conf.logs import LOG_LEVELS
from watcherlite.plugins.openstack.delegation import Delegations
from watcherlite.plugins.openstack.errors import translated

TEMPLATE = {
    'heat_template_version': '2021-04-16',
    'parameters': {'comment': {'type': 'string', 'default': ''}},
    'resources': {
        'key': {
            'type': api_case.KEY_PAIR,
            'properties': {'comment': {'get_param': 'comment'}},
        }
    },
    'outputs': {'user': {'value': {'get_attr': ['key', 'user']}}},
}


class AuthorityCase(api_case.CloudApiCase):
    """A user who delegates authority to the service."""

    def setUp(self):
        super().setUp()
        # The log is that of a daemon, whatever its own level.
        for name, _, level in (each.partition('=') for each in LOG_LEVELS):
            logger = logging.getLogger(name)
            self.addCleanup(logger.setLevel, logger.level)
            logger.setLevel(level)
        self.demo = self.user(case.DEMO)
        self.before = {trust['id'] for trust in self.trusts_of(self.demo)}
        self.addCleanup(self.delete_trusts)
        self.notifications = []
        self.runtime.bus.subscribe_notifications(
            lambda _, body: self.notifications.append(body.decode())
        )

    def delete_trusts(self):
        for trust in self.new_trusts():
            self.demo.connection.identity.delete(f'/OS-TRUST/trusts/{trust["id"]}')

    def new_trusts(self):
        return [t for t in self.trusts_of(self.demo) if t['id'] not in self.before]

    def credentials(self):
        with self.runtime.store.engine.connect() as connection:
            return [
                dict(row._mapping)
                for row in connection.execute(sa.text('SELECT * FROM credentials'))
            ]

    def stored_texts(self):
        """Return all values of the database."""
        texts = []
        with self.runtime.store.engine.connect() as connection:
            for table in sa.inspect(connection).get_table_names():
                for row in connection.execute(sa.text(f'SELECT * FROM {table}')):
                    texts += map(str, row)
        return '\n'.join(texts)

    def caller(self, *roles):
        """Return the user as a caller with some roles."""
        return operation.Caller(
            user_id=self.demo.id,
            project_id=self.demo.project,
            token=self.demo.token,
            role_names=roles,
        )


class TestStacks(AuthorityCase):
    def path(self, *words):
        return '/'.join(('/orchestration/v1', self.demo.project, 'stacks', *words))

    def create_stack(self, name=None, status=201):
        name = name or self.unique_name('stack')
        body = {'stack_name': name, 'template': TEMPLATE}
        response = self.call(self.demo, 'POST', self.path(), body)
        self.assertEqual(status, response.status_code, response.text)
        if status != 201:
            return response
        stack = response.json['stack']['id']
        self.addCleanup(self.delete_stack, name, stack)
        self.wait_for_stack(stack, 'CREATE_COMPLETE')
        return stack

    def delete_stack(self, name, stack):
        row = self.runtime.store.find_stack(stack, None, True)
        if row.deleted_at is None:
            self.call(self.demo, 'DELETE', self.path(row.name, stack))
            self.wait_for_stack(stack, 'DELETE_COMPLETE')

    def key_pair_of(self, stack):
        row = self.runtime.store.find_stack(stack, None, True)
        (resource,) = self.runtime.store.list_resources([row.id])
        return resource.physical_id

    def test_a_stack_is_created_and_deleted_as_its_user(self):
        stack = self.create_stack()

        key_pair = self.key_pair_of(stack)
        self.assertTrue(self.exists(self.demo, key_pair))
        (trust,) = self.new_trusts()
        self.assertEqual(
            ({'member', 'reader'}, self.demo.project, True),
            (
                {role['name'] for role in trust['roles']},
                trust['project_id'],
                trust['impersonation'],
            ),
        )
        (row,) = self.credentials()
        self.assertEqual(stack, row['owner'])
        self.assertTrue(row['external_id'].startswith('sealed:'))
        name = self.runtime.store.find_stack(stack, None).name
        shown = [
            self.call(self.demo, 'GET', self.path(name, stack, *words)).text
            for words in ((), ('resources', 'key'), ('events',))
        ]
        self.assertIn(self.demo.id, shown[0], 'the output has the user')

        self.delete_stack('', stack)

        self.assertFalse(self.exists(self.demo, key_pair))
        bounded.wait_until(lambda: not self.credentials())
        self.assertEqual([], self.new_trusts())
        bounded.wait_until(lambda: 'stack.delete.end' in ''.join(self.notifications))
        answers, payloads = '\n'.join(shown), '\n'.join(self.notifications)
        for text in (self.stored_texts(), self.log.output, answers, payloads):
            for secret in (self.demo.token, trust['id']):
                self.assertNotIn(secret, text)

    def test_an_update_renews_a_deleted_trust(self):
        stack = self.create_stack()
        (old,) = self.new_trusts()
        self.delete_trusts()
        name = self.runtime.store.find_stack(stack, None).name

        response = self.call(
            self.demo,
            'PUT',
            self.path(name, stack),
            {'template': TEMPLATE, 'parameters': {'comment': 'changed'}},
        )

        self.assertEqual(202, response.status_code, response.text)
        self.wait_for_stack(stack, 'UPDATE_COMPLETE')
        (new,) = self.new_trusts()
        self.assertNotEqual(old['id'], new['id'])
        self.runtime.delegations.revoke_unused()
        self.assertEqual(1, len(self.credentials()))
        self.assertEqual([new], self.new_trusts())

    def test_changed_roles_of_the_user_are_delegated_again(self):
        stack = self.create_stack()
        (old,) = self.new_trusts()
        delegations = self.runtime.delegations
        caller = self.caller('reader')

        kept = delegations.reference(caller, stack, self.demo.project, renews=False)
        renewed = delegations.reference(caller, stack, self.demo.project, renews=True)
        delegations.revoke_unused()

        self.assertNotEqual(kept, renewed)
        (new,) = self.new_trusts()
        self.assertNotEqual(old['id'], new['id'])
        self.assertEqual(['reader'], [role['name'] for role in new['roles']])

    def test_a_refused_creation_leaves_no_trust(self):
        stack = self.create_stack()
        name = self.runtime.store.find_stack(stack, None).name

        self.create_stack(name, status=409)

        self.assertEqual(1, len(self.new_trusts()))
        self.assertEqual(1, len(self.credentials()))

    def test_a_crash_before_the_stack_is_stored_leaves_no_trust(self):
        caller = self.caller('member')
        delegations = self.runtime.delegations
        delegations.delegate(caller, 'a-stack-that-was-never-stored')
        self.assertEqual(1, len(self.new_trusts()))

        delegations.revoke_unused()

        self.assertEqual([], self.new_trusts())
        self.assertEqual([], self.credentials())

    def test_another_user_does_not_see_the_key_pair(self):
        stack = self.create_stack()

        self.assertFalse(self.exists(self.user(case.ADMIN), self.key_pair_of(stack)))

    def test_keystone_refuses_roles_that_the_user_does_not_have(self):
        caller = self.caller('admin')

        error = self.assertRaises(
            exceptions.Forbidden, self.runtime.delegations.delegate, caller
        )

        self.assertNotIn(self.demo.token, str(error))
        self.assertEqual([], self.new_trusts())

    def nested(self, region):
        """Return a template with the key pair in a stack of another region."""
        inner = {
            'type': 'OS::Heat::Stack',
            'properties': {
                'template': json.dumps(TEMPLATE),
                'context': {'region_name': region},
            },
        }
        return {**TEMPLATE, 'resources': {'inner': inner}, 'outputs': {}}

    def test_a_stack_may_be_in_another_region(self):
        region = self.variables['OS_REGION_NAME']
        name = self.unique_name('stack')

        answer = self.call(
            self.demo,
            'POST',
            self.path(),
            {'stack_name': name, 'template': self.nested(region)},
        )

        self.assertEqual(201, answer.status_code, answer.text)
        stack = answer.json['stack']['id']
        self.addCleanup(self.delete_stack, name, stack)
        self.wait_for_stack(stack, 'CREATE_COMPLETE')
        nested = self.key_pair_of(stack)
        row = self.runtime.store.find_stack(nested, None)
        self.assertEqual(region, row.context['region'])
        self.assertTrue(self.exists(self.demo, self.key_pair_of(nested)))

    def test_an_unknown_region_is_reported_with_those_that_exist(self):
        answer = self.call(
            self.demo,
            'POST',
            self.path(),
            {'stack_name': self.unique_name('s'), 'template': self.nested('missing')},
        )

        self.assertEqual(201, answer.status_code, answer.text)
        stack = answer.json['stack']['id']
        self.addCleanup(self.delete_stack, '', stack)
        row = self.wait_for_stack(stack, 'CREATE_FAILED')
        # Tests of others may add regions.
        self.assertRegex(
            row.state.reason,
            'Cannot establish connection to Heat endpoint at region "missing" due to '
            '"The service catalog has no such region; it has RegionOne[^"]*"',
        )

    def token_of_application_credential(self, unrestricted):
        """Return the token of a new application credential of the user."""
        path = f'/users/{self.demo.id}/application_credentials'
        identity = self.demo.connection.identity
        body = {'name': self.unique_name('app'), 'unrestricted': unrestricted}
        made = identity.post(path, json={'application_credential': body}).json()
        made = made['application_credential']
        self.addCleanup(identity.delete, f'{path}/{made["id"]}')
        clouds = self.open_clouds(
            cloud=None,
            client_config_file=None,
            auth_type='v3applicationcredential',
            auth={
                'auth_url': self.options()['auth_url'],
                'application_credential_id': made['id'],
                'application_credential_secret': made['secret'],
            },
        )
        return clouds.service_connection().session.get_token()

    def application_credentials(self):
        path = f'/users/{self.demo.id}/application_credentials'
        found = self.demo.connection.identity.get(path).json()
        return sorted(each['id'] for each in found['application_credentials'])

    def test_an_unrestricted_application_credential_delegates_authority(self):
        token = self.token_of_application_credential(True)
        self.demo = dataclasses.replace(self.demo, token=token)

        before = self.application_credentials()
        stack = self.create_stack()

        self.assertEqual([], self.new_trusts())
        self.assertEqual(1, len(self.application_credentials()) - len(before))
        (row,) = self.credentials()
        self.assertEqual('application_credential', row['kind'])
        self.assertTrue(row['secret'].startswith('sealed:'))
        self.assertTrue(self.exists(self.demo, self.key_pair_of(stack)))

        self.delete_stack('', stack)

        bounded.wait_until(lambda: not self.credentials())
        self.assertEqual(before, self.application_credentials())

    def test_a_restricted_application_credential_is_refused_with_the_reason(self):
        token = self.token_of_application_credential(False)
        self.demo = dataclasses.replace(self.demo, token=token)

        answer = self.create_stack(status=403)

        text = answer.json['error']['message']
        self.assertIn('the delegation of authority', text)
        self.assertIn('application credential', text)
        self.assertNotIn(token, text)
        self.assertEqual([], self.new_trusts())


class OtherCloudSite(api_case.CloudApiFixture):
    """A service that permits stacks in the other cloud of the test."""

    def configure(self, configuration):
        super().configure(configuration)
        for name, value in self._test.other_cloud().items():
            configuration.set_override(name, value, 'openstack')


class TestOtherCloud(AuthorityCase):
    """Resources with a credential of their user in another cloud.

    It is the same cloud by another URL, as another user. The small cloud has no
    barbican: that is one of the test.
    """

    site = OtherCloudSite
    secret = str(uuid.uuid4())

    def other_cloud(self):
        """Start barbican and the other cloud; return the options."""
        keystone = urllib.parse.urlsplit(self.options()['auth_url'])
        proxy = self.useFixture(Proxy(keystone.hostname, keystone.port))
        self.auth_url = f'http://127.0.0.1:{proxy.port}/v3'
        self.readers = []
        barbican = self.useFixture(Server(self.answer)).url
        return {
            'client_config_file': self.changed_clouds(
                key_manager_endpoint_override=f'{barbican}/v1'
            ),
            'remote_auth_urls': [self.auth_url],
        }

    def answer(self, exchange, request):
        """Return the credential; record the user who reads it."""
        kind = {'content_type': 'application/json'}
        if request.path != f'/v1/secrets/{self.secret}/payload':
            url = f'http://{request.headers["host"]}/v1'
            links = [{'rel': 'self', 'href': url}]
            version = {'id': 'v1', 'status': 'CURRENT', 'links': links}
            exchange.answer(200, json.dumps({'versions': [version]}).encode(), **kind)
            return
        found = self.connect(case.ADMIN).identity.get(
            '/auth/tokens', headers={'X-Subject-Token': request.headers['x-auth-token']}
        )
        self.readers.append(found.json()['token']['user']['id'])
        payload = {
            'auth_type': 'v3applicationcredential',
            'auth': {'auth_url': self.auth_url, **self.credential},
        }
        exchange.answer(200, json.dumps(payload).encode(), **kind)

    def test_a_nested_stack_is_created_and_deleted_there(self):
        alt = self.user(case.ALT)
        path = f'/users/{alt.id}/application_credentials'
        identity = alt.connection.identity
        body = {'application_credential': {'name': self.unique_name('app')}}
        made = identity.post(path, json=body).json()['application_credential']
        self.addCleanup(identity.delete, f'{path}/{made["id"]}')
        self.credential = {
            'application_credential_id': made['id'],
            'application_credential_secret': made['secret'],
        }
        name, stacks = (
            self.unique_name('stack'),
            f'/orchestration/v1/{self.demo.project}/stacks',
        )
        inner = {
            'type': 'OS::Heat::Stack',
            'properties': {
                'template': json.dumps(TEMPLATE),
                'context': {'credential_secret_id': self.secret},
            },
        }
        template = {**TEMPLATE, 'outputs': {}}
        template['resources'] = {**TEMPLATE['resources'], 'inner': inner}

        answer = self.call(
            self.demo, 'POST', stacks, {'stack_name': name, 'template': template}
        )
        self.assertEqual(201, answer.status_code, answer.text)
        stack = answer.json['stack']['id']
        row = self.wait_for_stack(stack, 'CREATE_COMPLETE')

        ids = {
            resource.name: resource.physical_id
            for resource in self.runtime.store.list_resources([row.id])
        }
        nested = self.runtime.store.find_stack(ids['inner'], None)
        (there,) = self.runtime.store.list_resources([nested.id])
        here, there = ids['key'], there.physical_id
        self.assertEqual(
            [(True, False), (False, True)],
            [
                (self.exists(user, here), self.exists(user, there))
                for user in (self.demo, alt)
            ],
        )
        self.assertEqual([self.demo.id], self.readers)
        for text in (self.stored_texts(), self.log.output):
            self.assertNotIn(made['secret'], text)

        self.call(self.demo, 'DELETE', f'{stacks}/{name}/{stack}')
        self.wait_for_stack(stack, 'DELETE_COMPLETE')

        self.assertFalse(self.exists(alt, there))
        bounded.wait_until(lambda: not self.credentials())


class TestServiceUser(AuthorityCase):
    """The user of the service needs no rights of its own to work for users."""

    def setUp(self):
        super().setUp()
        self.admin = self.connect(case.ADMIN)
        name, password = self.unique_name('service'), uuid.uuid4().hex
        identity = self.admin.identity
        project = identity.find_project('service')
        user = identity.create_user(name=name, password=password, domain_id='default')
        self.addCleanup(identity.delete_user, user)
        identity.assign_project_role_to_user(
            project, user, identity.find_role('reader')
        )
        auth = self.options(username=name, password=password)
        self.clouds = self.open_clouds(cloud=None, client_config_file=None, auth=auth)
        self.trustee = user.id
        store = self.runtime.store
        self.clouds.read_credential = store.find_credential
        self.delegations = Delegations(store, self.clouds, self.runtime.clock)

    def trusts_of(self, user):
        trusts = user.connection.identity.get(
            f'/OS-TRUST/trusts?trustor_user_id={user.id}'
        ).json()['trusts']
        mine = getattr(self, 'trustee', None)
        return [trust for trust in trusts if trust['trustee_user_id'] == mine]

    def test_a_reader_of_its_own_project_creates_uses_checks_and_deletes_trusts(self):
        caller = self.caller('member', 'reader')

        reference = self.delegations.reference(caller, 'owner', self.demo.project, True)
        connection = self.clouds.connection_for(reference)
        again = self.delegations.reference(caller, 'owner', self.demo.project, True)

        session = connection.session
        access = session.auth.get_access(session)
        self.assertEqual(
            (self.demo.id, self.demo.project, {'member', 'reader'}),
            (access.user_id, access.project_id, set(access.role_names)),
        )
        self.assertEqual(reference, again)
        self.assertEqual(1, len(self.new_trusts()))
        self.assertEqual(1, self.delegations.revoke_unused())
        self.assertEqual([], self.new_trusts())

    def test_the_trust_of_a_user_who_lost_a_role_ends_its_authority(self):
        identity = self.admin.identity
        role = identity.create_role(name=self.unique_name('role'))
        self.addCleanup(identity.delete_role, role)
        project = identity.get_project(self.demo.project)
        user = identity.get_user(self.demo.id)
        identity.assign_project_role_to_user(project, user, role)
        token = self.open_clouds(case.DEMO).service_connection().session.get_token()
        caller = dataclasses.replace(self.caller(role.name), token=token)
        self.delegations.delegate(caller, 'owner')
        identity.unassign_project_role_from_user(project, user, role)

        with (
            self.assertRaisesRegex(exceptions.Forbidden, 'refuses the credentials'),
            translated('compute', 'the servers'),
        ):
            list(self.clouds.connection_for('owner').compute.servers())

        renewed = self.delegations.reference(
            self.caller('member'), 'owner', self.demo.project, True
        )
        list(self.clouds.connection_for(renewed).compute.servers())
        # So does the connection of before.
        list(self.clouds.connection_for('owner').compute.servers())


class TestClusters(AuthorityCase):
    def create(self, noun, body):
        response = self.call(self.demo, 'POST', f'/clustering/v1/{noun}s', {noun: body})
        self.assertIn(response.status_code, (201, 202), response.text)
        return response.json[noun]

    def wait_for_cluster(self, cluster, *statuses):
        def is_there():
            response = self.call(
                self.demo, 'GET', f'/clustering/v1/clusters/{cluster["id"]}'
            )
            found = 404 if response.status_code == 404 else None
            status = found or response.json['cluster']['status']
            if status == 'ERROR':
                self.fail(response.text)
            return status in statuses

        bounded.wait_until(is_there)

    def key_pairs(self, prefix):
        return [
            key.name
            for key in self.demo.connection.compute.keypairs()
            if key.name.startswith(prefix)
        ]

    def test_nodes_and_webhooks_have_the_authority_of_their_user(self):
        name = self.unique_name('cluster')
        profile = self.create(
            'profile',
            {
                'name': name,
                'spec': {'type': 'test.key_pair', 'version': '1.0', 'properties': {}},
            },
        )
        cluster = self.create(
            'cluster',
            {'name': name, 'profile_id': profile['id'], 'desired_capacity': 1},
        )
        self.wait_for_cluster(cluster, 'ACTIVE')
        self.assertEqual(1, len(self.key_pairs(name)))
        receiver = self.create(
            'receiver',
            {
                'name': name,
                'type': 'webhook',
                'cluster_id': cluster['id'],
                'action': 'CLUSTER_SCALE_OUT',
            },
        )
        self.assertEqual(
            {cluster['id'], receiver['id']}, {c['owner'] for c in self.credentials()}
        )

        url = receiver['channel']['alarm_url'].partition('/clustering/')[2]
        path, _, query = url.partition('?')
        response = self.client.simulate_post(f'/clustering/{path}', query_string=query)
        self.assertEqual(202, response.status_code, response.text)
        bounded.wait_until(lambda: len(self.key_pairs(name)) == 2)
        self.wait_for_cluster(cluster, 'ACTIVE')

        self.call(self.demo, 'DELETE', f'/clustering/v1/receivers/{receiver["id"]}')
        self.runtime.delegations.revoke_unused()
        self.assertEqual([cluster['id']], [c['owner'] for c in self.credentials()])
        self.call(self.demo, 'DELETE', f'/clustering/v1/clusters/{cluster["id"]}')
        bounded.wait_until(lambda: not self.credentials())

        self.assertEqual([], self.key_pairs(name))
        self.assertEqual([], self.new_trusts())
