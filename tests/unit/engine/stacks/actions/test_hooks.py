"""Hook actions in the graph of an operation, and how they wait."""

import datetime
from types import SimpleNamespace

from tests import base
from watcherlite.domain.outcomes import DerivedAction
from watcherlite.engine.stacks.actions import hooks
from watcherlite.engine.stacks.actions.hooks import POLL_INTERVAL, HookAction
from watcherlite.testing.actions import run_action
from watcherlite.testing.context import FakeContext

STACK = SimpleNamespace(id=1, deadline=None)


def action(key, *parents):
    inputs = {'resource': len(key)}
    return DerivedAction(
        key, 'resource', inputs, name=key[5:], parents=parents, timeout=60
    )


class InsertTest(base.TestCase):
    def test_hooks_are_between_a_resource_and_its_neighbours(self):
        actions = [
            action('make:a'),
            action('make:bb', 'make:a'),
            action('make:c', 'make:a', 'make:bb'),
        ]
        pairs = {
            'make:a': (None, 'post-create'),
            'make:bb': ('pre-create', 'post-create'),
        }

        found = hooks.insert(actions, pairs, STACK)

        self.assertEqual(
            [
                ('make:a', 'resource', ()),
                ('post-create:a', 'resource_hook', ('make:a',)),
                ('pre-create:bb', 'resource_hook', ('post-create:a',)),
                ('make:bb', 'resource', ('pre-create:bb',)),
                ('post-create:bb', 'resource_hook', ('make:bb',)),
                ('make:c', 'resource', ('post-create:a', 'post-create:bb')),
            ],
            [(one.key, one.action_type, one.parents) for one in found],
        )
        self.assertEqual(
            ({'stack': 1, 'resource': 7, 'hook': 'pre-create'}, 'bb', 60),
            (found[2].inputs, found[2].name, found[2].timeout),
        )


class HookActionTest(base.TestCase):
    def run_hook(self, seconds, finished_after=10**6):
        """Return the status, the message and the duration of a hook action.

        :param seconds: until its deadline
        :param finished_after: the number of polls until a request has ended it
        """
        context = FakeContext()
        begin = context.now()
        deadline = begin + datetime.timedelta(seconds=seconds)
        inputs = {
            'stack': 1,
            'resource': 2,
            'hook': 'pre-delete',
            'deadline': deadline.isoformat(),
        }
        context.inputs = inputs
        polls = []

        def get_action(uuid):
            polls.append(uuid)
            return SimpleNamespace(finished=len(polls) >= finished_after)

        services = SimpleNamespace(store=SimpleNamespace(get_action=get_action))

        class Hook(HookAction):
            def __init__(self, options=None):
                super().__init__(services)

        result = run_action(Hook, inputs, context=context)
        duration = (context.now() - begin).total_seconds()
        return result.status, result.status_message, duration

    def test_it_times_out_at_the_deadline_of_the_operation(self):
        text = (
            'Action failed in execute: Timed out: the hook pre-delete was not cleared.'
        )

        self.assertEqual(
            [('FAILED', text, 90.0), ('FAILED', text, 0.0)],
            [self.run_hook(90), self.run_hook(-1)],
        )

    def test_its_worker_forgets_it_after_it_was_cleared(self):
        self.assertEqual(
            ('SUCCEEDED', None, 2 * POLL_INTERVAL),
            self.run_hook(3600, finished_after=2),
        )
