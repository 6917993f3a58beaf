"""An engine recovers nodes when a service reports the failure of their resources."""

import datetime
from collections.abc import Collection
from typing import Any, ClassVar

from tests import service_notifications
from tests.bounded import TIMEOUT
from tests.functional.engine.runtime_case import RuntimeCase
from tests.functional.messaging.base import RabbitTestCase
from watcherlite import bootstrap
from watcherlite.domain.clusters import Owner
from watcherlite.domain.service_notifications import (
    ResourceFailure,
    ServiceNotification,
)
from watcherlite.engine.clusters.requests.values import ClusterRequest, RequestContext
from watcherlite.plugins.loader import Plugins
from watcherlite.plugins.policies.health import Health
from watcherlite.plugins.resource_handlers.test_resource import TestResource

BY = RequestContext(Owner('a-project'))
HEALTH = 'senlin.policy.health-1.2'
RECOVERED = 'Recovery succeeded'


class Reported(TestResource):
    """A resource whose service reports its end."""

    failure_events: ClassVar[Collection[str]] = ('instance.delete.end',)

    @classmethod
    def failure_in(cls, notification: ServiceNotification) -> ResourceFailure | None:
        data = notification.payload['nova_object.data']
        return ResourceFailure(data['metadata']['node'], data['uuid'], 'it is gone')


class TestFailureEvents(RabbitTestCase, RuntimeCase):
    def test_a_notification_recovers_a_node_before_the_next_check(self) -> None:
        exchange = f'{self.prefix}.nova'
        channel = self.channel()
        channel.exchange_declare(
            exchange=exchange, type='topic', durable=False, auto_delete=False
        )
        self.addCleanup(channel.exchange_delete, exchange=exchange)
        options = self.options(
            '[data_models]\n'
            f'notification_transport_url = {self.vhost.url}\n'
            f'notification_topics = {exchange}.versioned_notifications\n'
        )
        plugins: Any = {'resource_handlers': {'Reported': Reported}}
        runtime = bootstrap.Runtime(
            options,
            lanes=('engine',),
            plugins=Plugins.of(policies={HEALTH: Health}, **plugins),
        )
        self.addCleanup(runtime.stop, 0)
        runtime.start()
        runtime.add_listener(self.wake)
        self.runtime = runtime
        assert runtime.service_notifications is not None
        self.assertTrue(runtime.service_notifications.wait_until_consuming(TIMEOUT))
        node = self.create_monitored_node()

        self.send_raw(
            exchange,
            'versioned_notifications.info',
            service_notifications.envelope(
                'instance.delete.end',
                service_notifications.instance(
                    node.physical_id, 'compute-1', metadata={'node': node.uuid}
                ),
                'nova-compute:compute-1',
                datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=1),
            ),
        )
        self.wait_until(lambda: self.reload(node).status_reason == RECOVERED)

        self.assertEqual('ACTIVE', self.reload(node).status)
        # The thread that reads the database for notifications ends with the process.
        self.assertTrue(runtime.stop(TIMEOUT))

    def create_monitored_node(self) -> Any:
        """Create a cluster with a health policy; return its node."""
        clusters = self.runtime.clusters
        clusters.profiles.create('p', {'type': 'reported', 'version': '1.0'}, BY)
        begun = clusters.create(ClusterRequest('c', 'p', desired_capacity=1), BY)
        self.wait_for_end(begun.action)
        detection = {
            'interval': 3600,
            'detection_modes': [{'type': 'LIFECYCLE_EVENTS'}],
        }
        name, _, version = HEALTH.rpartition('-')
        spec = {
            'type': name,
            'version': version,
            'properties': {'detection': detection},
        }
        clusters.policies.create('h', spec, BY)
        self.wait_for_end(clusters.attach_policy('c', BY, 'h').action)
        (node,) = self.runtime.store.nodes_of([begun.row.id])
        return node

    def wait_for_end(self, uuid: str) -> None:
        self.wait_until(lambda: self.runtime.store.get_action(uuid).finished)
        action = self.runtime.store.get_action(uuid)
        self.assertEqual('SUCCEEDED', action.status, action.status_message)

    def reload(self, node: Any) -> Any:
        return self.runtime.store.nodes_by_uuid([node.uuid])[node.uuid]
