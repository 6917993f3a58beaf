"""The options of [notifications]: destination, format and selection."""

import signal

from tests.acceptance.daemons import APPLIER, DaemonTestCase
from tests.acceptance.listening import Listener, data, notification_lines, plan_of

ELSEWHERE = {
    'exchange': 'elsewhere',
    'topics': 'first, second',
    'amqp_durable_queues': True,
    'action_plan_event_prefix': 'action_plan',
    'payload_version': '1.0',
    'level': 'error',
}
OF_ONE_THAT_FAILS = [
    'action.create',
    'action.execution.error',
    'action.execution.start',
    'action.update',
    'action.update',
    'actionplan.create',
    'actionplan.execution.error',
    'actionplan.execution.start',
    'actionplan.update',
    'actionplan.update',
    'actionplan.update',
]


class OptionsTest(DaemonTestCase):
    """oslo.messaging consumers have options of the same names."""

    third_party = False

    def listen(self, topic):
        """Return the endpoint of a listener with the options of the daemon."""
        listener = Listener(
            self.vhost.url, 'elsewhere', topic, amqp_durable_queues=True
        )
        return self.useFixture(listener).endpoint

    def run_failing_plan(self, operator):
        uuid = operator.start(('a', 'nop', {'message': 'x', 'fail_execute': True}))
        operator.wait_until_ended(uuid)
        return uuid

    def test_options_are_applied_and_mutable_ones_reloaded(self):
        path = self.ini(notifications={'publish_timeout': 1, **ELSEWHERE})
        operator = self.operator(path)
        applier = self.start_ready(APPLIER, path)
        endpoints = [self.listen(topic) for topic in ('first', 'second')]

        self.run_failing_plan(operator)
        errors = [endpoint.wait_for(2) for endpoint in endpoints]

        self.assertEqual(errors[0], errors[1])
        self.assertEqual(
            [
                'ERROR action.execution.error: FAILED, Failed in execute',
                'ERROR action_plan.execution.error: FAILED, Failed in execute',
            ],
            notification_lines(errors[0], {}),
        )
        self.assertEqual(
            {'1.0'}, {n['payload']['watcher_object.version'] for n in errors[0]}
        )
        self.assertEqual([False] * 2, ['status_message' in data(n) for n in errors[0]])

        self.ini(
            notifications={
                **ELSEWHERE,
                'publish_timeout': 1,
                'action_plan_event_prefix': 'actionplan',
                'payload_version': 'latest',
                'level': 'info',
            }
        )
        applier.send(signal.SIGHUP)
        applier.wait_for_text('[notifications] level changed from error to info')
        uuid = self.run_failing_plan(operator)
        # All notifications of a plan follow the errors from before.
        for endpoint in endpoints:
            notifications = endpoint.wait_for(2 + len(OF_ONE_THAT_FAILS))[2:]
            self.assertEqual(
                OF_ONE_THAT_FAILS, sorted(n['event_type'] for n in notifications)
            )
            self.assertEqual(
                {(uuid, '1.2'), (uuid, '1.3')},
                {
                    (plan_of(n), n['payload']['watcher_object.version'])
                    for n in notifications
                },
            )
