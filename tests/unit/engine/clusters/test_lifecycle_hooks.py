"""The calls of lifecycle hooks, with a manual clock."""

from types import SimpleNamespace

from tests import base
from watcherlite.engine.clusters.actions import lifecycle_hooks
from watcherlite.engine.clusters.actions.lifecycle_hooks import (
    LifecycleHook,
    hook_action,
)
from watcherlite.testing.actions import run_action
from watcherlite.testing.context import FakeContext
from watcherlite.testing.policies import make_node

INPUTS = {
    'url': 'http://user:secret@hooks.example/',
    'timeout': 60,
    'cluster_id': 'c',
    'node_id': 'n',
    'resource_id': 'r',
}


class BeforeTest(base.TestCase):
    def test_the_timeout_of_the_action_exceeds_that_of_the_hook(self):
        node = make_node(1, None, physical_id='x')
        definition = {
            'type': 'webhook',
            'params': {'url': 'http://h/'},
            'timeout': 7200,
        }

        hook = hook_action({'hooks': definition}, node, 'c', grace_period=1800)

        self.assertGreater(hook.timeout, 9000)
        self.assertEqual(
            (7200, 1800), (hook.inputs['timeout'], hook.inputs['grace_period'])
        )


class LifecycleHookTest(base.TestCase):
    def run_hook(self, *problems, finished=(), **inputs):
        """Return the times of the messages, the end, the final status and the reason.

        :param problems: of the attempts, in turn; the last one is repeated
        :param finished: whether another worker has ended it, in turn
        """
        given = {**INPUTS, **inputs}
        context = FakeContext(given)
        begin, shown = context.now(), []
        left, ends = list(problems), list(finished)

        async def notify(destinations, context):
            shown.append((context.now() - begin).total_seconds())
            return left.pop(0) if len(left) > 1 else left[0]

        def get_action(uuid):
            return SimpleNamespace(finished=ends.pop(0) if ends else False)

        self.patch(lifecycle_hooks, 'send_over_http', notify)
        parts = SimpleNamespace(
            store=SimpleNamespace(get_action=get_action), destinations=None
        )

        class Hook(LifecycleHook):
            def __init__(self, options=None):
                super().__init__(parts)

        result = run_action(Hook, given, context=context)
        over = (context.now() - begin).total_seconds()
        return shown, over, result.status, (result.outputs or {}).get('reason')

    def test_a_hook_notifies_once_after_the_grace_period_and_waits(self):
        ended = ('SUCCEEDED', 'Not completed within 60 s.')

        self.assertEqual(([0], 60, *ended), self.run_hook(None))
        self.assertEqual(([30], 90, *ended), self.run_hook(None, grace_period=30))

    def test_a_failed_notification_is_retried_at_growing_intervals(self):
        with self.assertLogs('watcherlite.engine.clusters', 'WARNING') as logs:
            runs = [
                self.run_hook('it answered 503', 'refused', None),
                self.run_hook('refused', timeout=1200),
                self.run_hook('refused', timeout=0),
                self.run_hook('refused', finished=[True]),
                self.run_hook('refused', timeout=12),
            ]

        self.assertEqual(
            [
                ([0, 5, 10], 60, 'SUCCEEDED'),
                ([0, 5, 10, 20, 40, 80, 160, 320, 620, 920], 1200, 'SUCCEEDED'),
                ([0], 0, 'SUCCEEDED'),
                ([0], 5, 'SUCCEEDED'),
                ([0, 5, 10], 12, 'SUCCEEDED'),
            ],
            [run[:3] for run in runs],
        )
        reasons = [run[3] for run in runs]
        self.assertEqual('Not completed within 60 s.', reasons[0])
        self.assertIn('was not notified: refused', reasons[2])
        self.assertEqual('Not completed within 12 s.', reasons[4])
        self.assertNotIn('secret', reasons[2] + ''.join(logs.output))
        self.assertIn('refused', logs.output[-1])
