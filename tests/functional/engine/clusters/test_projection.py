"""The events of actions on clusters."""

from tests.cluster_worlds import ClusterCase


class TestEvents(ClusterCase):
    def test_an_event_has_the_action_the_target_and_the_fault(self):
        world = self.create_cluster_world()
        cluster = world.insert_cluster(world.profile(), 1, desired_capacity=0)
        (node,) = world.nodes(cluster)
        world.external.fails.add(('create', 'c-1'))

        action = world.run_action('NODE_CREATE', node)

        last = [event for event in world.events() if event.subject == 'node'][-1]
        self.assertEqual(
            ('state_changed', 'CREATING', 'ERROR', action.status_message, node.id),
            (
                last.kind,
                last.old_status,
                last.new_status,
                last.message,
                last.subject_id,
            ),
        )
        fault = last.detail.pop('fault')
        self.assertEqual('HandlerError', fault['exception'])
        self.assertEqual(
            {
                'action': {
                    'uuid': action.uuid,
                    'name': action.name,
                    'type': 'NODE_CREATE',
                },
                'phase': 'error',
                'uuid': node.uuid,
                'name': 'c-1',
                'physical_id': None,
                'cluster': cluster.uuid,
            },
            last.detail,
        )
