"""The operations that are permitted while a group handles a signal."""

from typing import Any, ClassVar

from tests.specs.test_groups import HANDLERS, GroupCase, scaling
from tests.stack_worlds import TENANT, Group, res, template
from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch, ResourceInProgress
from watcherlite.domain.stacks import Stack
from watcherlite.plugins.base import ResourceHandler
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

FOREVER = 10**9


class DeferredSignalHandler(ResourceHandler):
    """A handler whose signals stay in progress until they are cancelled."""

    idempotent = True
    received: ClassVar[list[str]] = []

    def create(self, context: Any) -> Any:
        return None

    def signal(self, context: Any, details: Any) -> Any:
        return ResourceInProgress('ringing', 0.0)

    def poll(self, context: Any, operation: str, token: Any) -> Any:
        self.received.append(f'{operation} {token}')
        return ResourceInProgress(token, 0.0)

    def cancel(self, context: Any, operation: str, token: Any) -> None:
        self.received.append(f'{operation} over')

    def delete(self, context: Any) -> Any:
        return None


class Stepwise(Group):
    """A group that adds members one by one, with pauses of an hour."""

    def adjust(self, context: Any, members: Any, details: Any) -> Any:
        there, desired = len(members), details['count']
        return [
            Batch(template({f'm{at}': res() for at in range(count)}), pause=3600)
            for count in range(there + 1, desired + 1)
        ]


class TestWhileAGroupScales(GroupCase):
    """The group handles a signal, and the creation of its new members does not end."""

    def setUp(self) -> None:
        super().setUp()
        self.stack = self.make(g=self.group(FOREVER), up=scaling(2))
        self.send_signal()
        self.inner = self.world.nested(self.stack, 'g')
        self.world.wait_until(lambda: len(self.world.external.of('create')) == 2)

    def group(self, wait: int) -> dict[str, Any]:
        member = {'type': 'Sample', 'properties': {'value': 'new', 'wait': wait}}
        return res('ASG', min_size=0, max_size=4, resource=member)

    def send_signal(self) -> None:
        """Signal the policy; do not wait."""
        self.world.stacks.signal(self.stack.uuid, TENANT, 'up', {})

    def test_a_delete_ends_the_scaling_and_queued_signals(self) -> None:
        self.send_signal()
        self.send_signal()

        after = self.world.stacks.delete(self.stack.uuid, TENANT)

        self.assertEqual('DELETE_IN_PROGRESS', after.state.name)
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual('DELETE_COMPLETE', stack.state.name, stack.status_reason)
        self.assertIsNotNone(self.world.reload(self.inner).deleted_at)
        self.assertEqual({}, self.world.external.samples)
        self.assertEqual(2, len(self.world.external.of('create')))
        self.assertEqual(
            [
                *('CREATE_IN_PROGRESS', 'CREATE_COMPLETE', *['SIGNAL_FAILED'] * 3),
                *('DELETE_IN_PROGRESS', 'DELETE_COMPLETE'),
            ],
            [state for name, state in self.world.transitions(stack) if name == 'up'],
        )

    def test_an_update_supersedes_the_scaling_and_other_requests_are_refused(
        self,
    ) -> None:
        def refused(begin: Any, *arguments: Any) -> str:
            error = self.assertRaises(
                exceptions.ActionInProgress, begin, self.stack.uuid, TENANT, *arguments
            )
            return str(error)

        stacks = self.world.stacks
        refusals = {
            refused(stacks.abandon),
            *(
                refused(stacks.start_operation, do)
                for do in ('CHECK', 'SUSPEND', 'LOCK')
            ),
        }
        busy = refused(stacks.mark_unhealthy, 'g', True)

        self.assertEqual(
            {
                f'Stack {self.inner.name}, which is part of s, already has an action '
                '(UPDATE) in progress.'
            },
            refusals,
        )
        self.assertEqual(
            'Resource g of stack s already has an action (UPDATE) in progress.', busy
        )
        self.assertEqual('CREATE_COMPLETE', self.world.reload(self.stack).state.name)

        new = {'g': self.group(0), 'up': scaling(2)}
        after = self.world.start_update(self.stack, new)

        self.assertEqual('UPDATE_IN_PROGRESS', after.state.name)
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name, stack.status_reason)
        # The update creates as many members as the signal would have.
        self.assertEqual(['new'] * 2, list(self.values(self.stack).values()))
        self.assertEqual(2, len(self.world.external.samples))

    def test_a_nested_stack_that_is_being_locked_is_not_deleted(self) -> None:
        stacks = self.world.stacks
        stacks.cancel(self.inner.uuid, TENANT, rollback=False)
        self.world.wait_until_settled(self.stack)
        gate = self.create_gate_at(self.world, 'lock', min(self.ids(self.stack)))
        stacks.start_operation(self.inner.uuid, TENANT, states.LOCK)
        gate.wait_until_entered()

        refused = self.assertRaises(
            exceptions.ActionInProgress, stacks.delete, self.stack.uuid, TENANT
        )

        self.assertIn('(LOCK) in progress', str(refused))


class TestWhileASignalIsHandled(GroupCase):
    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world(
            {**HANDLERS, 'DeferredSignalHandler': DeferredSignalHandler}
        )
        DeferredSignalHandler.received.clear()

    def test_a_delete_ends_a_signal(self) -> None:
        stack: Stack = self.make(bell=res('DeferredSignalHandler'))
        self.world.stacks.signal(stack.uuid, TENANT, 'bell', {})
        self.world.wait_until(
            lambda: 'signal ringing' in DeferredSignalHandler.received
        )

        self.world.stacks.delete(stack.uuid, TENANT)

        stack = self.world.wait_until_settled(stack)
        self.assertEqual('DELETE_COMPLETE', stack.state.name, stack.status_reason)
        self.assertEqual('signal over', DeferredSignalHandler.received[-1])


class TestWhileAGroupPauses(GroupCase):
    """The group handles a signal in steps, and currently pauses."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world({**HANDLERS, 'Steps': Stepwise})

    def create_paused_stack(self) -> Stack:
        """Return a stack with a group that pauses after its first step."""
        stack = self.make(g=res('Steps', count=1), other=res())
        self.world.stacks.signal(stack.uuid, TENANT, 'g', {'count': 3})
        self.world.wait_until(
            lambda: (
                self.pause_statuses() == [action_states.RUNNING]
                and self.world.nested(stack, 'g').state.name == 'UPDATE_COMPLETE'
            )
        )
        self.assertEqual(['m0', 'm1'], sorted(self.ids(stack)))
        return stack

    def pause_statuses(self) -> list[str]:
        """Return the status of each pause."""
        actions = self.world.store.list_actions()
        return [a.status for a in actions if a.action_type == 'sleep']

    def test_a_delete_does_not_wait_for_further_steps(self) -> None:
        stack = self.world.act(self.create_paused_stack(), states.DELETE)
        self.assertEqual('DELETE_COMPLETE', stack.state.name, stack.status_reason)
        self.assertEqual([action_states.CANCELLED], self.pause_statuses())
        self.assertEqual(3, len(self.world.external.of('create')))
        self.assertEqual({}, self.world.external.samples)

    def test_an_update_does_not_wait_for_further_steps(self) -> None:
        stack = self.create_paused_stack()

        self.change(stack, g=res('Steps', count=4), other=res())

        self.assertEqual([action_states.CANCELLED], self.pause_statuses())
        self.assertEqual(['m0', 'm1', 'm2', 'm3'], sorted(self.ids(stack)))

    def test_other_requests_wait_for_the_end_of_the_steps(self) -> None:
        stack = self.create_paused_stack()

        after = self.world.stacks.start_operation(stack.uuid, TENANT, states.CHECK)

        self.assertEqual('CHECK_IN_PROGRESS', after.state.name)
        self.assertEqual([action_states.RUNNING], self.pause_statuses())
        self.world.act(stack, states.DELETE)
        self.assertEqual({}, self.world.external.samples)
