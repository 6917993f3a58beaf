"""The exchanges and queues, whose names are an interface."""

from tests import base
from watcherlite.messaging import settings, topology


def queues(desired):
    return {
        queue.name: (
            queue.bindings,
            queue.durable,
            queue.auto_delete,
            dict(queue.arguments),
        )
        for queue in desired.queues
    }


class TestWork(base.TestCase):
    def test_each_lane_has_a_quorum_queue_with_dead_letters(self):
        arguments = {
            'x-queue-type': 'quorum',
            'x-delivery-limit': 5,
            'x-dead-letter-exchange': 'other.dead_letters',
            'x-dead-letter-strategy': 'at-least-once',
            'x-overflow': 'reject-publish',
            'x-max-length': 10000,
        }

        desired = topology.work('other')

        self.assertEqual(
            {
                'other.commands': ('topic', True),
                'other.control': ('fanout', True),
                'other.dead_letters': ('fanout', True),
            },
            {item.name: (item.type, item.durable) for item in desired.exchanges},
        )
        self.assertEqual(
            {
                'other.dead_letters': (
                    (('other.dead_letters', ''),),
                    True,
                    False,
                    {'x-max-length': 10000},
                ),
                **{
                    f'other.{lane}': (
                        (('other.commands', lane),),
                        *(True, False, arguments),
                    )
                    for lane in ('applier', 'engine')
                },
            },
            queues(desired),
        )

    def test_the_queue_of_a_worker_is_deleted_with_it(self):
        queue = topology.control_queue('watcherlite', 'abc')

        self.assertEqual(
            topology.Queue(
                'watcherlite.control.abc',
                (('watcherlite.control', ''),),
                durable=False,
                exclusive=True,
                auto_delete=True,
            ),
            queue,
        )


class TestNotifications(base.TestCase):
    def test_the_defaults_are_those_of_oslo_messaging(self):
        desired = topology.notifications(settings.NotificationDestination())

        self.assertEqual(
            (topology.Exchange('watcher', 'topic', durable=False),), desired.exchanges
        )
        self.assertEqual(
            {
                f'versioned_notifications.{priority}': (
                    (('watcher', f'versioned_notifications.{priority}'),),
                    False,
                    False,
                    {},
                )
                for priority in ('info', 'warn', 'error', 'debug', 'critical')
            },
            queues(desired),
        )

    def test_the_options_are_those_of_oslo_messaging(self):
        def of(**options):
            desired = topology.notifications(
                settings.NotificationDestination(
                    exchange='e', topics=('t',), priorities=('info',), **options
                )
            )
            return desired.exchanges[0], queues(desired)['t.info'][1:]

        self.assertEqual(
            [
                (topology.Exchange('e', 'topic', True, False), (True, False, {})),
                (
                    topology.Exchange('e', 'topic', True, False),
                    (True, False, {'x-queue-type': 'quorum'}),
                ),
                (topology.Exchange('e', 'topic', False, True), (False, True, {})),
            ],
            [of(durable_queues=True), of(quorum_queue=True), of(auto_delete=True)],
        )

    def test_each_topic_has_all_queues(self):
        desired = settings.NotificationDestination(
            topics=('a', 'b'), priorities=('info',)
        )

        self.assertEqual(
            {'a.info', 'b.info'}, set(queues(topology.notifications(desired)))
        )
