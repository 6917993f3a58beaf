"""The models after notifications that nova 34 and cinder 29 have sent.

They were recorded during the life of a server and of a volume; ids, names, addresses
and times are invented. The names of states, zones and event types are theirs.
"""

import datetime
import fnmatch
import json
import pathlib

from tests import base
from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.plugins.openstack.models.compute import ComputeNode, ComputeSnapshot
from watcherlite.plugins.openstack.models.compute_collector import Compute
from watcherlite.plugins.openstack.models.storage import (
    Pool,
    StorageSnapshot,
    VolumeType,
)
from watcherlite.plugins.openstack.models.storage_collector import Storage

RECORDED = pathlib.Path(__file__).with_name('recorded')
SERVER = '00000000-0000-4000-8000-000000000001'
VOLUME = '00000000-0000-4000-8000-000000000014'
FAST = '00000000-0000-4000-8000-000000000015'
SLOW = '00000000-0000-4000-8000-000000000018'


def recorded(service: str) -> list[ServiceNotification]:
    """Return the notifications of a service, in the order of their arrival."""
    documents = json.loads((RECORDED / f'{service}.json').read_text())
    return [
        ServiceNotification(
            one['event_type'],
            one['publisher_id'],
            one['payload'],
            datetime.datetime.fromisoformat(one['timestamp']).replace(
                tzinfo=datetime.UTC
            ),
        )
        for one in documents
    ]


class TestRecorded(base.TestCase):
    """Each notification is applied, and none requires another collection."""

    def follow(self, model, snapshot, notifications):
        """Yield each notification with the snapshot after it."""
        for one in notifications:
            self.assertTrue(
                any(fnmatch.fnmatchcase(one.event_type, p) for p in model.event_types),
                one.event_type,
            )
            snapshot = model.apply(snapshot, [one])
            self.assertIsNotNone(snapshot, one.event_type)
            yield one.event_type, snapshot

    def test_the_life_of_a_server(self):
        snapshot = ComputeSnapshot(
            tuple(
                ComputeNode(name, name, hypervisor_hostname=name)
                for name in ('compute-1', 'compute-2')
            )
        )
        rows = []
        for event_type, after in self.follow(Compute(), snapshot, recorded('nova')):
            servers = {server.uuid: server for server in after.servers}
            server = servers.get(SERVER)
            rows.append(
                (
                    event_type.removeprefix('instance.'),
                    server and (server.state, server.node, server.memory),
                    [(one.status, one.disabled_reason) for one in after.nodes][1],
                )
            )

        enabled = ('enabled', None)
        self.assertEqual(
            [
                # It is being built, and has a host already.
                ('update', None, enabled),
                # Its state changes before the end of the creation is reported.
                ('update', ('active', 'compute-1', 128), enabled),
                ('create.end', ('active', 'compute-1', 128), enabled),
                ('power_off.end', ('stopped', 'compute-1', 128), enabled),
                ('update', ('active', 'compute-1', 128), enabled),
                ('live_migration_post_dest.end', ('active', 'compute-2', 128), enabled),
                # The former host reports its end later.
                ('live_migration_post.end', ('active', 'compute-2', 128), enabled),
                ('resize_finish.end', ('resized', 'compute-1', 512), enabled),
                ('resize_confirm.end', ('active', 'compute-1', 512), enabled),
                ('lock', ('active', 'compute-1', 512), enabled),
                (
                    'service.update',
                    ('active', 'compute-1', 512),
                    ('disabled', 'repair'),
                ),
                ('service.update', ('active', 'compute-1', 512), enabled),
                ('delete.end', None, enabled),
            ],
            rows,
        )

    def test_the_life_of_a_volume(self):
        snapshot = StorageSnapshot(
            tuple(
                Pool(f'storage@{backend}#{backend}-1', 100.0, 100.0)
                for backend in ('fast', 'slow')
            ),
            (),
            (VolumeType('fast', {}, FAST), VolumeType('slow', {}, SLOW)),
        )
        rows = []
        for event_type, after in self.follow(Storage(), snapshot, recorded('cinder')):
            volumes = {volume.uuid: volume for volume in after.volumes}
            volume = volumes.get(VOLUME)
            rows.append(
                (
                    event_type.removeprefix('volume.'),
                    volume
                    and (
                        volume.pool.partition('#')[2],
                        volume.volume_type,
                        volume.size,
                        volume.status,
                        len(volume.attached_to),
                        volume.has_snapshots,
                    ),
                    next(pool.free_capacity_gb for pool in after.pools),
                )
            )

        small = ('fast-1', 'fast', 1, 'available', 0, False)
        large = ('fast-1', 'fast', 2, 'available', 0, False)
        slow = ('slow-1', 'slow', 2, 'available', 0, False)
        self.assertEqual(
            [
                ('create.end', small, 100),
                ('capacity.pool', small, 99),
                ('resize.end', large, 99),
                ('attach.end', ('fast-1', 'fast', 2, 'in-use', 1, False), 99),
                ('detach.end', large, 99),
                ('retype', slow, 99),
                ('snapshot.create.end', (*slow[:-1], True), 99),
                ('snapshot.delete.end', slow, 99),
                ('delete.end', None, 99),
            ],
            rows,
        )
