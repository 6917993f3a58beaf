"""The validation of templates of resources that are executed."""

from typing import Any

from tests.stack_worlds import Group, StackWorld, res, template
from tests.unit.engine.stacks.requests.test_template_validator import (
    CheckingCase,
    SignalStoringGroup,
    inner,
)
from watcherlite.domain.resource_results import Batch
from watcherlite.engine.stacks.services import StackLimits


class TestRuntime(CheckingCase):
    """The limits also apply to groups that grow later."""

    def test_a_signal_does_not_make_a_stack_too_large(self) -> None:
        world = self.world(resources=4)
        stack = world.make({'k': res('SignalStoringGroup', count=2)})

        for count in (3, 4):
            world.stacks.signal(stack.uuid, stack.tenant, 'k', {'count': count})
            world.wait_until_settled(stack)

        states = world.states(world.nested(stack, 'k'))
        self.assertEqual(['m0', 'm1', 'm2'], sorted(states))
        self.assertEqual('CREATE_COMPLETE', world.states(stack)['k'])
        # The rejected details are not stored either.
        self.assertEqual({'count': 3}, world.resource(stack, 'k').data)

    def test_an_oversized_group_may_shrink(self) -> None:
        world = self.world(resources=4)
        stack = world.make({'k': res('SignalStoringGroup', count=3)})
        stricter = StackWorld(
            world.store,
            {'SignalStoringGroup': SignalStoringGroup},
            limits=StackLimits(resources=2),
        )
        self.addCleanup(stricter.stop)
        world.stop()
        world.workers.clear()
        stricter.worker()

        stricter.stacks.signal(stack.uuid, stack.tenant, 'k', {'count': 2})
        stricter.wait_until_settled(stack)

        states = stricter.states(stricter.nested(stack, 'k'))
        self.assertEqual(['m0', 'm1'], sorted(states))

    def test_a_signal_does_not_exceed_the_nesting_depth(self) -> None:
        class DeepeningGroup(Group):
            def adjust(self, context: Any, members: Any, details: Any) -> Any:
                return [Batch(template({'deeper': res('Group', count=1)}))]

        world = self.create_stack_world(
            {'DeepeningGroup': DeepeningGroup}, limits=StackLimits(depth=1)
        )
        stack = world.make({'g': res('DeepeningGroup', count=1)})
        within = world.nested(stack, 'g')

        world.stacks.signal(stack.uuid, stack.tenant, 'g', {})
        world.wait_until_settled(stack)

        after = world.reload(within)
        self.assertEqual('UPDATE_FAILED', after.state.name)
        self.assertIn(
            'deeper is 2 stacks deep; at most 1 may be in each other',
            after.status_reason,
        )
        self.assertIsNone(world.resource(within, 'deeper').nested_id)

    def test_resources_excluded_by_conditions_do_not_count(self) -> None:
        world = self.world(resources=4)
        text = inner(
            {'x': res(), 'y': res(_condition='no'), 'z': res(_condition='no')},
            conditions={'no': False},
        )

        stack = world.make(
            {'n': res('n.yaml'), 'm': res('n.yaml')}, files={'n.yaml': text}
        )

        self.assertEqual('CREATE_COMPLETE', stack.state.name, stack.status_reason)
