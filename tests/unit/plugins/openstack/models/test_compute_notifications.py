"""The changes of the compute model by notifications of nova."""

import dataclasses

from tests import base
from tests.service_notifications import (
    compute_service,
    instance,
    notification,
    versioned,
)
from watcherlite.plugins.openstack.models import compute
from watcherlite.plugins.openstack.models.compute import (
    Aggregate,
    ComputeNode,
    ComputeSnapshot,
    Server,
)
from watcherlite.plugins.openstack.models.compute_collector import Compute

NODES = tuple(
    ComputeNode(
        f'uuid-{number}',
        f'compute-{number}',
        vcpus=8,
        hypervisor_hostname=f'compute-{number}.example.org',
    )
    for number in (1, 2)
)
SERVER = Server(
    's1',
    'web',
    'uuid-1',
    vcpus=2,
    memory=512,
    disk=13,
    metadata={'role': 'web'},
    project_id='project',
    pinned_az='nova',
    flavor_extra_specs={'hw:cpu_policy': 'dedicated'},
    created='2030-01-01T00:00:00Z',
)
SNAPSHOT = ComputeSnapshot(
    NODES,
    (SERVER,),
    (Aggregate(3, 'ssd', frozenset({'compute-1'})),),
    frozenset({'ironic-1.example.org'}),
)


class TestServers(base.TestCase):
    def apply(self, *events, snapshot=SNAPSHOT):
        return Compute().apply(
            snapshot, [notification(event_type, data) for event_type, data in events]
        )

    def check(self, servers, *events):
        """Compare the servers after notifications, and nothing else has changed."""
        self.assertEqual(
            dataclasses.replace(SNAPSHOT, servers=tuple(servers)), self.apply(*events)
        )

    def test_a_migrated_server_is_on_its_new_node(self):
        moved = dataclasses.replace(SERVER, node='uuid-2')

        self.check(
            [moved],
            ('instance.update', instance('s1', 'compute-1', task_state='migrating')),
            ('instance.live_migration_post_dest.end', instance('s1', 'compute-2')),
            # The source host still has the former place.
            (
                'instance.live_migration_post.end',
                instance('s1', 'compute-1', task_state='migrating'),
            ),
        )

    def test_a_resized_server_has_the_resources_of_its_flavor(self):
        data = instance('s1', 'compute-2', state='resized', image_uuid='')
        flavor = data['nova_object.data']['flavor']['nova_object.data']
        flavor.update(vcpus=4, memory_mb=1024, swap=0, extra_specs=None)

        self.check(
            [
                dataclasses.replace(
                    SERVER, node='uuid-2', state='resized', vcpus=4, memory=1024, disk=1
                )
            ],
            ('instance.resize_finish.end', data),
        )

    def test_states_names_and_locks_follow(self):
        data = instance('s1', 'compute-1', state='stopped', locked=True, metadata={})

        self.check(
            [dataclasses.replace(SERVER, state='stopped', locked=True, metadata={})],
            ('instance.power_off.end', data),
        )

    def test_a_created_server_is_added_when_it_is_complete(self):
        self.check(
            [SERVER, dataclasses.replace(SERVER, uuid='s2', pinned_az='')],
            ('instance.update', instance('s2', 'compute-1', state='building')),
            ('instance.create.end', instance('s2', 'compute-1')),
        )

    def test_the_end_of_a_build_adds_a_server_and_another_change_does_not(self):
        def update(old_state):
            change = versioned(
                'InstanceStateUpdatePayload',
                {'old_state': old_state, 'state': 'active'},
            )
            return instance('s2', 'compute-1', state_update=change)

        self.check(
            [SERVER, dataclasses.replace(SERVER, uuid='s2', pinned_az='')],
            ('instance.update', update('building')),
        )
        self.assertIsNone(self.apply(('instance.update', update('stopped'))))

    def test_a_server_without_a_place_is_removed(self):
        for event_type, data in (
            ('instance.delete.end', instance('s1', 'compute-1', state='deleted')),
            ('instance.soft_delete.end', instance('s1', 'compute-1')),
            ('instance.update', instance('s1', 'compute-1', state='soft-delete')),
            (
                'instance.shelve_offload.end',
                instance('s1', None, state='shelved_offloaded'),
            ),
        ):
            self.check([], (event_type, data), (event_type, data))

    def test_servers_of_ironic_stay_left_out(self):
        self.check([SERVER], ('instance.create.end', instance('s2', 'ironic-1')))

    def test_an_unknown_object_means_that_the_model_is_collected_again(self):
        for event in (
            ('instance.update', instance('s2', 'compute-1')),
            ('instance.unshelve.end', instance('s2', 'compute-1')),
            ('instance.update', instance('s1', 'compute-3')),
            ('service.create', compute_service('compute-3')),
            ('service.update', compute_service('compute-3')),
            ('aggregate.add_host.end', instance('s1', 'compute-1')),
        ):
            self.assertIsNone(self.apply(event))

    def test_a_disabled_service_disables_its_node(self):
        first, second = NODES

        found = self.apply(
            (
                'service.update',
                compute_service('compute-1', disabled=True, disabled_reason='repair'),
            ),
            ('service.update', compute_service('compute-2', forced_down=True)),
            ('service.update', compute_service('compute-9', binary='nova-conductor')),
        )

        self.assertEqual(
            (
                dataclasses.replace(
                    first, status=compute.DISABLED, disabled_reason='repair'
                ),
                dataclasses.replace(second, state=compute.DOWN),
            ),
            found.nodes,
        )
        # Whether the service is up now is not known.
        self.assertIsNone(
            self.apply(('service.update', compute_service('compute-2')), snapshot=found)
        )

    def test_a_deleted_service_removes_its_node(self):
        found = self.apply(('service.delete', compute_service('compute-2')))

        self.assertEqual(NODES[:1], found.nodes)
