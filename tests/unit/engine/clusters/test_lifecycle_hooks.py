"""When a hook tells whom, by a clock that is turned."""

from types import SimpleNamespace

from tests import base
from watcherlite.destinations import Destinations
from watcherlite.engine.clusters.actions.lifecycle_hooks import (
    LifecycleHook,
    hook_action,
    send_over_http,
)
from watcherlite.testing.actions import run_action
from watcherlite.testing.context import FakeContext
from watcherlite.testing.policies import a_node

INPUTS = {
    'url': 'http://user:secret@hooks.example/',
    'timeout': 60,
    'cluster_id': 'c',
    'node_id': 'n',
    'resource_id': 'r',
}


class BeforeTest(base.TestCase):
    def test_a_hook_has_all_the_time_that_it_is_given(self):
        node = a_node(1, None, physical_id='x')
        said = {'type': 'webhook', 'params': {'url': 'http://h/'}, 'timeout': 7200}

        hook = hook_action({'hooks': said}, node, 'c', grace_period=1800)

        self.assertGreater(hook.timeout, 9000)
        self.assertEqual(
            (7200, 1800), (hook.inputs['timeout'], hook.inputs['grace_period'])
        )


class LifecycleHookTest(base.TestCase):
    def story(self, *problems, finished=(), **inputs):
        """Return when it told, how it ended, and what it says.

        :param problems: of the tries, in turn; the last for ever
        :param finished: whether others have ended it, in turn
        """
        given = {**INPUTS, **inputs}
        context = FakeContext(given)
        begin, told = context.now(), []
        left, ends = list(problems), list(finished)

        def tell(context):
            told.append((context.now() - begin).total_seconds())
            return left.pop(0) if len(left) > 1 else left[0]

        def get_action(uuid):
            return SimpleNamespace(finished=ends.pop(0) if ends else False)

        parts = SimpleNamespace(store=SimpleNamespace(get_action=get_action))

        class Hook(LifecycleHook):
            def __init__(self, options=None):
                super().__init__(parts, tell)

        result = run_action(Hook, given, context=context)
        over = (context.now() - begin).total_seconds()
        return told, over, result.status, (result.outputs or {}).get('reason')

    def test_it_tells_once_and_waits(self):
        self.assertEqual(
            ([0], 60, 'SUCCEEDED', 'Nobody completed it in 60 s.'), self.story(None)
        )

    def test_who_cannot_be_told_is_told_again(self):
        with self.assertLogs('watcherlite.engine.clusters', 'WARNING') as logs:
            story = self.story('it answered 503', 'refused', None)

        self.assertEqual(
            ([0, 5, 10], 60, 'SUCCEEDED', 'Nobody completed it in 60 s.'), story
        )
        self.assertNotIn('secret', ''.join(logs.output))

    def test_who_cannot_be_told_for_long_is_told_less_and_less_often(self):
        with self.assertLogs('watcherlite.engine.clusters', 'WARNING'):
            told, over, status, _ = self.story('refused', timeout=1200)

        self.assertEqual([0, 5, 10, 20, 40, 80, 160, 320, 620, 920], told)
        self.assertEqual((1200, 'SUCCEEDED'), (over, status))

    def test_if_they_never_can_the_node_goes_all_the_same(self):
        with self.assertLogs('watcherlite.engine.clusters', 'WARNING') as logs:
            story = self.story('refused', timeout=12)

        self.assertEqual(
            ([0, 5, 10], 12, 'SUCCEEDED', 'Nobody completed it in 12 s.'), story
        )
        self.assertIn('refused', logs.output[-1])

    def test_without_a_time_it_tells_and_goes_on(self):
        with self.assertLogs('watcherlite.engine.clusters', 'WARNING'):
            told, over, status, reason = self.story('refused', timeout=0)

        self.assertEqual(([0], 0, 'SUCCEEDED'), (told, over, status))
        self.assertIn('was not told: refused', reason)
        self.assertNotIn('secret', reason)

    def test_a_node_has_its_grace_before_that(self):
        self.assertEqual(
            ([30], 90, 'SUCCEEDED', 'Nobody completed it in 60 s.'),
            self.story(None, grace_period=30),
        )

    def test_what_was_completed_tells_nobody_any_more(self):
        with self.assertLogs('watcherlite.engine.clusters', 'WARNING'):
            told, over, status, _ = self.story('refused', finished=[True])

        self.assertEqual(([0], 5, 'SUCCEEDED'), (told, over, status))

    def test_it_is_not_sent_to_an_address_that_is_refused(self):
        context = FakeContext({**INPUTS, 'url': 'http://169.254.169.254/'})

        problem = send_over_http(Destinations, context)

        self.assertIn('169.254.169.254 is in a network that is refused', problem)
