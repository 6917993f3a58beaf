"""The changes of the other models by notifications of cinder and ironic."""

import dataclasses
import math

from tests import base
from tests.service_notifications import (
    baremetal_node,
    notification,
    volume,
    volume_snapshot,
)
from watcherlite.plugins.openstack.models.baremetal import Baremetal, BaremetalNode
from watcherlite.plugins.openstack.models.storage import (
    IN_USE,
    Pool,
    StorageSnapshot,
    Volume,
    VolumeType,
    unaccounted,
)
from watcherlite.plugins.openstack.models.storage_collector import Storage

POOL = Pool('storage@fast#1', 100.0, 90.0, volume_backend_name='fast')
VOLUME = Volume(
    'v1',
    'data',
    POOL.name,
    size=3,
    volume_type='fast',
    bootable=True,
    project_id='project',
    zone='nova',
    created='2030-01-01T00:00:00',
)
SNAPSHOT = StorageSnapshot((POOL,), (VOLUME,), (VolumeType('fast', {}, 'type-1'),), {})


class TestStorage(base.TestCase):
    def apply(self, *events, snapshot=SNAPSHOT):
        return Storage().apply(
            snapshot, [notification(event_type, data) for event_type, data in events]
        )

    def check(self, volumes, *events):
        """Compare the volumes after notifications, and nothing else has changed."""
        self.assertEqual(
            dataclasses.replace(SNAPSHOT, volumes=tuple(volumes)), self.apply(*events)
        )

    def test_a_created_volume_is_added(self):
        self.check(
            [VOLUME, dataclasses.replace(VOLUME, uuid='v2', bootable=False)],
            ('volume.create.end', volume('v2', POOL.name)),
        )

    def test_sizes_and_attachments_follow(self):
        attachment = {'id': 'a', 'instance_uuid': 's1', 'mountpoint': '/dev/vdb'}

        self.check(
            [dataclasses.replace(VOLUME, size=5, status=IN_USE, attached_to=('s1',))],
            ('volume.resize.end', volume('v1', POOL.name, size=5)),
            (
                'volume.attach.end',
                volume(
                    'v1',
                    POOL.name,
                    size=5,
                    status=IN_USE,
                    volume_attachment=[attachment],
                ),
            ),
        )

    def test_a_deleted_volume_is_removed(self):
        for event_type in ('volume.delete.end', 'volume.unmanage.end'):
            self.check([], (event_type, volume('v1', POOL.name)))

    def test_volumes_without_a_pool_stay_left_out(self):
        self.check([VOLUME], ('volume.update.end', volume('v2', None)))

    def test_an_unknown_object_means_that_the_model_is_collected_again(self):
        for event in (
            ('volume.update.end', volume('v2', POOL.name)),
            ('volume.create.end', volume('v2', 'storage@slow#1')),
            ('volume.create.end', volume('v2', POOL.name, volume_type='type-2')),
            ('capacity.pool', {'name_to_id': 'storage@slow#1'}),
        ):
            self.assertIsNone(self.apply(event))

    def test_a_change_of_a_volume_in_migration_is_not_guessed(self):
        moving = dataclasses.replace(VOLUME, migration_status='migrating')
        snapshot = dataclasses.replace(SNAPSHOT, volumes=(moving,))

        self.assertIsNone(
            self.apply(
                ('volume.update.end', volume('v1', POOL.name)), snapshot=snapshot
            )
        )
        # A retype that copies the volume to another backend reports no end.
        self.assertIsNone(
            self.apply(('volume.retype', volume('v1', POOL.name, status='retyping')))
        )

    def test_reports_of_pools_show_a_migration_that_has_no_notification(self):
        def report(pool, provisioned):
            return (
                'capacity.pool',
                {
                    'name_to_id': pool,
                    'total': 100,
                    'free': 50,
                    'allocated': 0,
                    'provisioned': provisioned,
                },
            )

        names = ('storage@fast#1', 'storage@fast#2', 'storage@fast#3')
        copied = ('volume.create.end', volume('v2', names[1]))
        pools = tuple(
            dataclasses.replace(POOL, name=name, provisioned_capacity_gb=provisioned)
            for name, provisioned in zip(names, (13, 20, 0), strict=True)
        )
        snapshot = dataclasses.replace(
            SNAPSHOT, pools=pools, unaccounted=unaccounted(pools, (VOLUME,))
        )
        first, second, silent = names
        created = ('volume.create.end', volume('v2', second, size=5))
        grown = ('volume.resize.end', volume('v1', first, size=9))

        for events, is_applied in (
            # The volume left the first pool, moved by the backend or as a copy.
            ([report(second, 23), report(first, 10)], False),
            ([copied, report(second, 23), report(first, 10)], False),
            # Notifications about volumes account for the changes.
            ([created, report(second, 25), grown, report(first, 19)], True),
            ([('volume.delete.end', volume('v1', first)), report(first, 10)], True),
            # What is gained may be a snapshot.
            ([report(second, 23), report(first, 16)], True),
            # A backend that does not report it loses nothing.
            ([('volume.create.end', volume('v3', silent)), report(silent, 0)], True),
        ):
            self.assertEqual(
                is_applied, self.apply(*events, snapshot=snapshot) is not None, events
            )

    def test_the_remaining_copy_of_a_migrated_volume_is_removed(self):
        self.check(
            [], ('volume.detach.end', volume('v1', POOL.name, status='deleting'))
        )

    def test_the_last_snapshot_frees_its_volume(self):
        created = self.apply(
            ('snapshot.create.end', volume_snapshot('x', 'v1')),
            ('snapshot.create.end', volume_snapshot('y', 'v1')),
            ('snapshot.delete.end', volume_snapshot('x', 'v1')),
        )
        deleted = self.apply(
            ('snapshot.delete.end', volume_snapshot('y', 'v1')), snapshot=created
        )

        self.assertEqual(
            dataclasses.replace(
                SNAPSHOT,
                volumes=(dataclasses.replace(VOLUME, has_snapshots=True),),
                snapshots={'y': 'v1'},
            ),
            created,
        )
        self.assertEqual(SNAPSHOT, deleted)

    def test_pools_report_their_capacity(self):
        report = {
            'name_to_id': POOL.name,
            'total': 'infinite',
            'free': 'unknown',
            'allocated': 10,
            'provisioned': 12,
            'virtual_free': 80,
            'reported_at': '2030-01-01T00:00:00Z',
        }

        found = self.apply(('capacity.pool', report))

        self.assertEqual(
            (
                dataclasses.replace(
                    POOL,
                    total_capacity_gb=math.inf,
                    free_capacity_gb=None,
                    allocated_capacity_gb=10,
                    provisioned_capacity_gb=12,
                ),
            ),
            found.pools,
        )


class TestBaremetal(base.TestCase):
    def apply(self, *events):
        return Baremetal().apply(
            (BaremetalNode('a', 'rack-1', 'power off'),),
            [notification(event_type, data) for event_type, data in events],
        )

    def test_nodes_follow_their_notifications(self):
        name = 'baremetal.node'

        self.assertEqual(
            (BaremetalNode('b', 'rack-1', 'power off', True, 'uuid-1'),),
            self.apply(
                (f'{name}.power_set.end', baremetal_node('a')),
                (f'{name}.create.end', baremetal_node('b')),
                (f'{name}.delete.end', baremetal_node('a')),
                (
                    f'{name}.power_state_corrected.success',
                    baremetal_node('b', power_state='power off', maintenance=True),
                ),
            ),
        )

    def test_an_unknown_node_means_that_the_model_is_collected_again(self):
        self.assertIsNone(
            self.apply(('baremetal.node.update.end', baremetal_node('c')))
        )
