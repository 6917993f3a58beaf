"""The messages of events of clusters and nodes."""

from tests import factories
from tests.notification_samples import clusters as cluster_samples
from tests.unit.notifications import expectations, messages_case
from tests.unit.notifications.expectations import CLUSTER, NODE, phase_event
from watcherlite.domain.clusters import Cluster, Node, Profile


class FakeSource(messages_case.FakeSource):
    """The objects of each kind; `asked` are the kinds and ids of each query."""

    def __init__(self):
        super().__init__()
        self.known = {kind: dict(rows) for kind, rows in expectations.NOUNS.items()}

    def objects_by_id(self, kind, ids):
        self.asked.append((kind, list(ids)))
        if self.error is not None:
            raise self.error
        return {key: self.known[kind][key] for key in ids if key in self.known[kind]}

    def change_to(self, row):
        self.known[type(row)][row.id] = row


class ClusterMessagesTestCase(messages_case.MessagesCase):
    def make_source(self):
        return FakeSource()


class TestMessages(ClusterMessagesTestCase):
    def test_the_creation_of_a_cluster_of_one_node_is_notified(self):
        sent = self.build(
            phase_event(1, 'create.start', 'INIT', 'CREATING'),
            phase_event(2, 'create.start', 'INIT', 'CREATING', row=NODE),
            phase_event(3, 'create.end', 'CREATING', 'ACTIVE', row=NODE),
            phase_event(4, 'create.end', 'CREATING', 'ACTIVE'),
        )

        self.assertEqual(
            [
                'cluster.create.start: CREATING',
                'node.create.start: CREATING',
                'node.create.end: ACTIVE',
                'cluster.create.end: ACTIVE',
            ],
            expectations.message_lines(sent),
        )
        self.assertEqual(
            [('clustering:localhost', 'INFO')] * 4,
            [
                (message['publisher_id'], message['priority'])
                for message in map(expectations.inner, sent)
            ],
        )

    def test_initiators_of_events_are_in_no_payload(self):
        self.assert_without_initiator(
            phase_event(1, 'create.end', 'CREATING', 'ACTIVE'),
            phase_event(2, 'create.end', 'CREATING', 'ACTIVE', row=NODE),
        )

    def test_the_times_are_those_of_the_change(self):
        at = factories.NOW.strftime('%Y-%m-%dT%H:%M:%SZ')
        made = '2016-11-04T16:29:20Z'
        sent = self.build(
            phase_event(1, 'create.start', 'INIT', 'CREATING'),
            phase_event(2, 'create.end', 'CREATING', 'ACTIVE'),
            phase_event(3, 'delete.start', 'ACTIVE', 'DELETING'),
            phase_event(4, 'delete.end', 'DELETING', 'DELETING'),
        )

        self.assertEqual(
            [(None, at, None), (made, at, None), (made, at, None), (made, at, at)],
            expectations.fields(sent, 'created_at', 'updated_at', 'deleted_at'),
        )

    def test_payload_names_the_action_and_the_cluster_of_a_node(self):
        (message,) = self.build(
            phase_event(
                *(1, 'recover.end', 'RECOVERING', 'ACTIVE'),
                row=NODE,
                physical_id='web-1-new',
            )
        )

        data = expectations.data(message)
        self.assertEqual(
            {
                'uuid': cluster_samples.ACTION_UUID,
                'name': f'node_recover_{NODE.uuid[:8]}',
                'action_type': 'NODE_RECOVER',
            },
            data['action']['watcher_object.data'],
        )
        self.assertEqual(
            (CLUSTER.uuid, 'web-1-new', 1, expectations.PROFILE.uuid),
            tuple(
                data[k]
                for k in ('cluster_uuid', 'physical_id', 'index', 'profile_uuid')
            ),
        )

    def test_only_errors_have_a_fault(self):
        node = {'row': NODE, 'fault': expectations.FAULT}
        sent = self.build(
            phase_event(1, 'check.start', 'ACTIVE', 'CHECKING'),
            phase_event(2, 'check.error', 'ACTIVE', 'ERROR', **node),
            phase_event(3, 'check.error', 'CHECKING', 'WARNING'),
        )

        self.assertEqual(
            [
                ('cluster.check.start', 'info', None),
                ('node.check.error', 'error', expectations.SHOWN_FAULT),
                ('cluster.check.error', 'error', None),
            ],
            expectations.faults(sent),
        )


class TestReads(ClusterMessagesTestCase):
    def test_all_objects_of_a_batch_are_read_together_and_again_for_the_next(self):
        builder = self.builder()
        stored = [
            phase_event(1, 'resize.start', 'ACTIVE', 'RESIZING'),
            phase_event(2, 'create.end', 'CREATING', 'ACTIVE', row=NODE),
            phase_event(3, 'resize.end', 'RESIZING', 'ACTIVE'),
        ]
        sizes = []
        for size in (4, 5):
            self.source.change_to(CLUSTER.evolve(desired_capacity=size))
            batch = builder.build(stored)
            sizes.append(
                [expectations.data(m).get('desired_capacity') for m in batch.messages]
            )

        self.assertEqual(
            [(Cluster, [10]), (Node, [11]), (Profile, [12])] * 2, self.source.asked
        )
        self.assertEqual([[4, None, 4], [5, None, 5]], sizes)

    def test_deleted_profile_is_null(self):
        self.source.known[Profile].clear()

        (message,) = self.build(phase_event(1, 'delete.end', 'DELETING', 'DELETING'))

        self.assertIsNone(expectations.data(message)['profile_uuid'])

    def test_store_errors_are_raised(self):
        stored = phase_event(1, 'check.start', 'ACTIVE', 'CHECKING')

        self.assert_not_read(stored)
        self.assert_raised(stored)


class TestSecrets(ClusterMessagesTestCase):
    def test_properties_are_omitted_and_credentials_masked(self):
        secret = 'correct-horse'
        self.source.change_to(
            CLUSTER.evolve(
                metadata={'tier': 'web', 'db_password': secret},
                config={'node.name.format': secret},
                data={'loadbalancers': {'x': secret}},
            )
        )
        self.source.change_to(
            NODE.evolve(
                properties={'command': secret},
                attributes={'url': secret},
                kept={'x': secret},
                data={'x': secret},
            )
        )

        sent = self.build(
            phase_event(
                *(1, 'check.error', 'CHECKING', 'ERROR'),
                message=f'no answer from http://me:{secret}@host/',
            ),
            phase_event(2, 'check.start', 'ACTIVE', 'ACTIVE', row=NODE),
        )

        self.assertNotIn(secret, str(sent))
        self.assertEqual(
            (
                {'tier': 'web', 'db_password': '***'},
                'no answer from http://me:***@host/',
            ),
            (
                expectations.data(sent[0])['metadata'],
                expectations.data(sent[0])['status_reason'],
            ),
        )


class TestBuildFailures(ClusterMessagesTestCase):
    def test_a_build_failure_does_not_delay_other_messages(self):
        gone = phase_event(
            *(1, 'check.start', 'ACTIVE', 'CHECKING'), row=CLUSTER.evolve(id=99)
        )
        unknown = phase_event(2, 'explode.start', 'ACTIVE', 'ACTIVE')
        fine = phase_event(3, 'check.start', 'ACTIVE', 'CHECKING')

        batch = self.builder().build([gone, unknown, fine])

        self.assertEqual(
            ['cluster.check.start: CHECKING'],
            expectations.message_lines(batch.messages),
        )
        self.assertEqual(
            [1, 2], sorted(found.stored.sequence for found in batch.build_failures)
        )
