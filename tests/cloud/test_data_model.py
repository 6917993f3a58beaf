"""Data models that the notifications of a real cloud keep current."""

import collections

from tests.acceptance.daemons import wait_until
from tests.cloud.audit_case import AuditCase
from tests.cloud.plan_case import HOSTS, TIMEOUT

#: The log of a collection of a data model.
COLLECTED = 'Collected the data model'
#: The version from which there are other models than `compute`.
NEWER = {'version': '1.8'}
#: Seconds for which no model is collected again, unless a notification requires it.
LONG = 3600


class FollowedCase(AuditCase):
    """An engine that consumes the notifications of nova and cinder.

    :cvar kind: the type of the data model
    :cvar key: the field with the uuid of an object
    """

    kind = 'compute'
    key = 'server_uuid'

    def start_following(self):
        """Start an engine with the API; wait until it has collected its model."""
        url = self.variables.get('CLOUD_TRANSPORT_URL')
        if url is None:
            self.skip_without('The cloud has no broker: CLOUD_TRANSPORT_URL')
        models = {
            'max_age': LONG,
            'max_age_with_notifications': LONG,
            'notification_transport_url': url,
            'notification_topics': 'nova.versioned_notifications,'
            'openstack.notifications',
        }
        self.daemon = self.start_standalone(data_models=models)
        # What was collected before may lack notifications.
        self.daemon.wait_for_text('Consuming notifications of services from')
        self.rows()

    def rows(self):
        """Return the rows of the data model."""
        return self.get(f'/v1/data_model?data_model_type={self.kind}')['context']

    def row(self, uuid):
        """Return the row of a server or volume, or None."""
        return next((row for row in self.rows() if row.get(self.key) == uuid), None)

    def wait_for_row(self, uuid, **values):
        """Wait until the row of a server or volume has values."""
        found = {}

        def is_there():
            found['row'] = self.row(uuid)
            return found['row'] is not None and values.items() <= found['row'].items()

        wait_until(is_there, lambda: f'{values}: {found}', TIMEOUT)

    def wait_until_gone(self, uuid):
        wait_until(lambda: self.row(uuid) is None, lambda: str(self.row(uuid)), TIMEOUT)

    def assert_collected_once(self):
        """Check that notifications alone have changed the model."""
        self.assertEqual(1, self.collections(), self.daemon.text())

    def collections(self):
        """Return how often the model was collected."""
        return self.daemon.text().count(f'{COLLECTED} {self.kind} in')


class TestCompute(FollowedCase):
    def test_servers_and_services_are_followed_by_the_notifications_of_nova(self):
        source, destination = HOSTS
        compute = self.admin.compute
        connection = self.connect_to_new_project()
        self.start_following()

        (uuid,) = self.create_servers_on(connection, source, metadata={'tier': 'web'})
        self.wait_for_row(
            uuid,
            server_state='active',
            server_memory=128,
            server_metadata={'tier': 'web'},
            server_locked=False,
            node_hostname=source,
        )
        compute.stop_server(uuid)
        self.wait_for_row(uuid, server_state='stopped')
        compute.start_server(uuid)
        self.wait_for_row(uuid, server_state='active')
        compute.lock_server(uuid)
        self.wait_for_row(uuid, server_locked=True)
        compute.unlock_server(uuid)
        self.wait_for_row(uuid, server_locked=False)
        compute.live_migrate_server(uuid, host=destination, block_migration='auto')
        self.wait_for_row(uuid, node_hostname=destination)
        self.wait_for_server(uuid, status='ACTIVE', task_state=None)
        compute.resize_server(uuid, compute.find_flavor('m1.tiny').id)
        self.wait_for_row(uuid, server_state='resized', server_memory=512)
        self.wait_for_server(uuid, status='VERIFY_RESIZE', task_state=None)
        compute.confirm_server_resize(uuid)
        self.wait_for_row(uuid, server_state='active', server_memory=512)
        host = self.server(uuid).compute_host
        self.wait_for_row(uuid, node_hostname=host, node_status='enabled')

        self.addCleanup(self.enable, host)
        compute.disable_service(self.service(host), disabled_reason='repair')
        self.wait_for_row(uuid, node_status='disabled', node_disabled_reason='repair')
        self.enable(host)
        self.wait_for_row(uuid, node_status='enabled', node_disabled_reason=None)

        place = self.audit_by_client(
            *('zone_migration', 'hardware_maintenance', self.others(uuid, within=host)),
            compute_nodes=[{'src_node': host}],
        )
        self.assertEqual({uuid}, set(self.by_resource(place)))
        self.check_lists_of_the_client(uuid, host, self.get(place)['audit_uuid'])

        self.delete_server(uuid)
        self.wait_until_gone(uuid)
        self.assert_collected_once()

    def check_lists_of_the_client(self, uuid, host, audit):
        """Check what the client of Watcher lists.

        :param uuid: of a server on the host
        :param audit: whose scope has no other host
        """
        listed, detailed, scoped = (
            self.optimize_json('datamodel', 'list', *argv, version='1.6')
            for argv in ((), ('--type', 'compute', '--detail'), ('--audit', audit))
        )

        name = 'Node Host Name'
        for rows in (listed, scoped):
            (row,) = (row for row in rows if row['Server UUID'] == uuid)
            self.assertEqual(('active', host), (row['Server State'], row[name]))
        (row,) = (row for row in detailed if row['Server_UUID'] == uuid)
        self.assertEqual(
            (1, 512, host), (row['Server Vcpus'], row['Server Memory'], row[name])
        )
        self.assertEqual({host}, {row[name] for row in scoped})
        self.assertEqual(set(HOSTS), {row[name] for row in listed})


class TestStorage(FollowedCase):
    kind = 'storage'
    key = 'volume_uuid'

    def test_volumes_are_followed_by_the_notifications_of_cinder(self):
        storage = self.admin.block_storage
        connection = self.connect_to_new_project()
        (server,) = self.create_servers_on(connection, HOSTS[0])
        self.wait_for_reports()
        self.start_following()

        volume = self.create_volume(connection=connection)
        self.wait_for_row(
            volume.id,
            volume_status='available',
            volume_size=1,
            volume_volume_type='fast',
            pool_name=volume.host,
        )
        storage.extend_volume(volume.id, 2)
        self.wait_for_row(volume.id, volume_status='available', volume_size=2)
        connection.compute.create_volume_attachment(server, volume_id=volume.id)
        self.wait_for_row(
            volume.id, volume_status='in-use', volume_attached_to=[server]
        )
        connection.compute.delete_volume_attachment(server, volume.id)
        self.wait_for_row(volume.id, volume_status='available', volume_attached_to=[])
        self.wait_for_volume(volume.id, 'available')
        storage.retype_volume(volume.id, 'slow', migration_policy='on-demand')
        self.wait_for_row(
            volume.id, volume_status='available', volume_volume_type='slow'
        )
        pool = storage.get_volume(volume.id).host
        self.wait_for_row(volume.id, pool_name=pool)

        place = self.audit_by_client(
            *('zone_migration', 'hardware_maintenance', self.others(volume.id)),
            storage_pools=[{'src_pool': pool, 'dst_type': 'fast'}],
        )
        self.assertEqual({volume.id}, set(self.by_resource(place)))
        # The client has no columns for volumes.
        listed = self.optimize_json('datamodel', 'list', '--type', 'storage', **NEWER)
        self.assertEqual(len(self.rows()), len(listed))

        self.delete_volume(volume.id)
        self.wait_until_gone(volume.id)
        self.assert_collected_once()

        self.check_migration(connection)

    def check_migration(self, connection):
        """Check that a migrated volume is found by the report of its former pool."""
        storage = self.admin.block_storage
        volume, first, second = (
            self.create_volume(connection=connection) for _ in range(3)
        )
        pool = self.other_pool(volume.host)
        self.report_capacity(first.id)

        storage.migrate_volume(volume.id, host=pool)
        wait_until(
            lambda: storage.get_volume(volume.id).host == pool,
            lambda: str(storage.get_volume(volume.id)),
            TIMEOUT,
        )
        self.wait_for_volume(volume.id, 'available')
        self.report_capacity(second.id)

        self.wait_for_row(volume.id, pool_name=pool)
        self.assertLess(1, self.collections())

    def report_capacity(self, volume):
        """Retype a volume: then cinder reports the capacity of its former pools.

        Otherwise it does so once a minute.
        """
        storage = self.admin.block_storage
        storage.retype_volume(volume, 'slow', migration_policy='on-demand')
        wait_until(
            lambda: storage.get_volume(volume).volume_type == 'slow',
            lambda: str(storage.get_volume(volume)),
            TIMEOUT,
        )
        self.wait_for_volume(volume, 'available')

    def wait_for_reports(self):
        """Wait until cinder has reported the capacity of pools since the last change.

        A volume that was deleted before looks like one that left its pool.
        """
        storage = self.admin.block_storage

        def unreported():
            sizes = collections.Counter()
            hosts = {}
            for volume in storage.volumes(all_projects=True):
                hosts[volume.id] = volume.host
                sizes[volume.host] += volume.size
            for snapshot in storage.snapshots(all_projects=True):
                sizes[hosts.get(snapshot.volume_id)] += snapshot.size
            return {
                pool.name: pool.capabilities['provisioned_capacity_gb']
                for pool in storage.backend_pools()
                if pool.capabilities['provisioned_capacity_gb'] != sizes[pool.name]
            }

        wait_until(lambda: not unreported(), lambda: str(unreported()), TIMEOUT)
