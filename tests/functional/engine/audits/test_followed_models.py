"""An engine keeps its data models current by the notifications of the cloud."""

import datetime
import threading

from tests import service_notifications
from tests.bounded import TIMEOUT
from tests.functional.engine.runtime_case import RuntimeCase
from tests.functional.messaging.base import RabbitTestCase
from tests.functional.plugins import test_data_models
from tests.openstack_lists import FakeConnection
from watcherlite import bootstrap
from watcherlite.domain.creators import LOCAL
from watcherlite.plugins.loader import Plugins
from watcherlite.plugins.openstack.models.compute_collector import Compute


class FakeCloud(FakeConnection):
    is_configured = False

    def close(self):
        pass


class TestFollowedModels(RabbitTestCase, RuntimeCase):
    def test_an_audit_sees_a_migrated_server_without_another_request(self):
        exchange = f'{self.prefix}.nova'
        channel = self.channel()
        channel.exchange_declare(
            exchange=exchange, type='topic', durable=False, auto_delete=False
        )
        self.addCleanup(channel.exchange_delete, exchange=exchange)
        uuid = '178b0921-8f85-4257-88b6-2e743b5a975c'
        cloud = FakeCloud(
            test_data_models.nova([1, 2], [test_data_models.server(1, 1, id=uuid)])
        )
        options = self.options(
            '[data_models]\n'
            f'notification_transport_url = {self.vhost.url}\n'
            f'notification_topics = {exchange}.versioned_notifications\n'
        )
        runtime = bootstrap.Runtime(
            options,
            lanes=('engine',),
            plugins=Plugins.of(data_models={'compute': Compute}, clouds=cloud),
        )
        self.addCleanup(runtime.stop, 0)
        arrived = threading.Event()
        handle = runtime.data_models.on_notification

        def on_notification(notification):
            handle(notification)
            arrived.set()

        runtime.data_models.on_notification = on_notification
        runtime.start()
        self.assertTrue(runtime.service_notifications.wait_until_consuming(TIMEOUT))
        make = runtime.data_models.factories()['compute']
        before = make([], creator=LOCAL)
        requests = list(cloud.requests)

        self.send_raw(
            exchange,
            'versioned_notifications.info',
            service_notifications.envelope(
                'instance.live_migration_post_dest.end',
                service_notifications.instance(uuid, 'compute-2'),
                'nova-compute:compute-2',
                datetime.datetime.now(datetime.UTC),
            ),
        )
        self.assertTrue(arrived.wait(TIMEOUT))
        after = make([], creator=LOCAL)

        self.assertEqual(
            ['compute-1', 'compute-2'],
            [
                model.node_of(model.find_server(uuid)).hostname
                for model in (before, after)
            ],
        )
        self.assertEqual(requests, cloud.requests)
