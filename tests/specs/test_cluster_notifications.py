"""Notifications of clusters and nodes while workers create, check and recover them."""

from typing import Any

from tests.specs.cluster_case import ClusterActionCase
from tests.specs.published import published
from tests.unit.notifications import expectations
from watcherlite.engine.clusters import action_types

SECRET = 'correct-horse'


class TestClusterNotifications(ClusterActionCase):
    """Notifications of one cluster and its nodes."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_single_thread_world()
        self.messages: list[Any] = []

    def sent(self) -> list[Any]:
        """Return the messages since the last call."""
        sent = published(self.world.store)
        self.messages += sent
        return sent

    def test_a_cluster_is_created_and_deleted(self) -> None:
        profile = self.world.profile(value=SECRET)
        cluster = self.make(
            self.world, 1, profile, metadata={'tier': 'web', 'password': SECRET}
        )
        made = self.sent()
        self.world.run_action(action_types.CLUSTER_DELETE, cluster)
        deleted = self.sent()

        self.assertEqual(
            [
                'cluster.create.start: CREATING',
                'node.create.start: CREATING',
                'node.create.end: ACTIVE',
                'cluster.create.end: ACTIVE',
            ],
            expectations.message_lines(made),
        )
        self.assertEqual(
            [
                'cluster.delete.start: DELETING',
                'node.delete.start: DELETING',
                'node.delete.end: DELETING',
                'cluster.delete.end: DELETING',
            ],
            expectations.message_lines(deleted),
        )
        self.assertEqual(
            [cluster.uuid] * 2,
            [
                expectations.data(m)['cluster_uuid']
                for m in made
                if 'cluster_uuid' in expectations.data(m)
            ],
        )
        first, last = expectations.data(made[0]), expectations.data(deleted[-1])
        self.assertEqual(
            (
                'c',
                'a-project',
                'a user',
                profile.uuid,
                1,
                {'tier': 'web', 'password': '***'},
                None,
            ),
            (
                *(first[k] for k in ('name', 'tenant_id', 'user_id', 'profile_uuid')),
                *(first[k] for k in ('desired_capacity', 'metadata', 'deleted_at')),
            ),
        )
        self.assertIsNotNone(last['deleted_at'])
        self.assertNotIn(SECRET, str(self.messages))
        self.assertEqual(
            {'clustering:localhost'},
            {expectations.inner(m)['publisher_id'] for m in self.messages},
        )
        # No message is sent twice.
        ids = {expectations.inner(m)['message_id'] for m in self.messages}
        self.assertEqual((8, []), (len(ids), self.sent()))

    def test_a_cluster_with_a_node_that_cannot_be_created(self) -> None:
        self.world.external.fails.add(('create', 'n2'))
        self.world.worker()
        _, action = self.start_creation(self.world, 2)
        self.world.wait_for_end(action)

        sent = self.sent()

        self.assertEqual(
            {
                'c': ['cluster.create.start: CREATING', 'cluster.create.error: ERROR'],
                'n1': ['node.create.start: CREATING', 'node.create.end: ACTIVE'],
                'n2': ['node.create.start: CREATING', 'node.create.error: ERROR'],
            },
            _by_name(sent),
        )
        failed = {
            expectations.data(m)['name']: expectations.data(m)
            for m in sent
            if expectations.fault(m)
        }
        self.assertEqual({'n2', 'c'}, set(failed))
        self.assertEqual(
            ('HandlerError', 'create of n2 does not work'),
            tuple(
                failed['n2']['fault']['watcher_object.data'][key]
                for key in ('exception', 'exception_message')
            ),
        )
        self.assertEqual(
            {'uuid': action.uuid, 'name': action.name, 'action_type': 'CLUSTER_CREATE'},
            failed['c']['action']['watcher_object.data'],
        )
        self.assertEqual(
            {'n2': None, 'c': None},
            {name: data['created_at'] for name, data in failed.items()},
        )

    def test_a_dead_node_is_recovered_and_another_one_is_added(self) -> None:
        cluster = self.make(self.world, 2)
        self.sent()
        dead = self.world.nodes(cluster)[1]
        self.world.external.samples.pop(dead.physical_id or '')
        self.world.run_action(action_types.CLUSTER_CHECK, cluster)
        checked = self.sent()
        self.world.run_action(action_types.CLUSTER_RECOVER, cluster)
        recovered = self.sent()

        self.assertEqual(
            {
                'c': ['cluster.check.start: CHECKING', 'cluster.check.end: WARNING'],
                'n1': ['node.check.start: ACTIVE', 'node.check.end: ACTIVE'],
                'n2': ['node.check.start: ACTIVE', 'node.check.end: ERROR'],
            },
            _by_name(checked),
        )
        self.assertEqual(
            {
                'c': [
                    'cluster.recover.start: RECOVERING',
                    'cluster.recover.end: ACTIVE',
                ],
                'n2': ['node.recover.start: RECOVERING', 'node.recover.end: ACTIVE'],
            },
            _by_name(recovered),
        )
        ids = [
            expectations.data(m)['physical_id']
            for m in recovered
            if expectations.data(m)['name'] == 'n2'
        ]
        self.assertEqual(self.world.reload(dead).physical_id, ids[-1])

        self.world.run_action(action_types.CLUSTER_SCALE_OUT, cluster, {'count': 1})
        scaled = self.sent()
        self.assertEqual(
            {
                'c': [
                    'cluster.scale_out.start: RESIZING',
                    'cluster.scale_out.end: ACTIVE',
                ],
                'n3': ['node.create.start: CREATING', 'node.create.end: ACTIVE'],
            },
            _by_name(scaled),
        )
        self.assertEqual(3, expectations.data(scaled[-1])['desired_capacity'])


def _by_name(sent: list[Any]) -> dict[str, list[str]]:
    """Return the notifications of each cluster and node, by name."""
    found: dict[str, list[str]] = {}
    for message in sent:
        found.setdefault(expectations.data(message)['name'], []).extend(
            expectations.message_lines([message])
        )
    return found
