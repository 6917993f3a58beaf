"""Spec 000: the status messages of skipped actions and of their plans."""

from tests.specs.skip_case import SkipCase
from tests.worlds import action, kind, raises
from watcherlite import exceptions
from watcherlite.domain.outcomes import Skipped

BY_USER = 'Action skipped by user.'


class TestStatusMessageOfActions(SkipCase):
    """The comment of a skip by a user, with and without further details."""

    def test_a_missing_message_gets_a_default_and_a_long_one_is_truncated(self) -> None:
        skip = exceptions.ActionSkipException
        world = self.create_world(
            {
                'empty': kind(pre_condition=raises(skip())),
                'returned': kind(pre_condition=lambda context: Skipped('')),
                'long': kind(pre_condition=raises(skip('x' * 500))),
            }
        )
        world.run(action('a', 'empty'), action('b', 'returned'), action('c', 'long'))
        skipped = 'Action was skipped automatically: '
        plain = (
            f'{skipped}The action does not apply to the state that its target is in.'
        )
        self.assertEqual(
            [plain, plain, skipped + 'x' * (254 - len(skipped)) + '…'],
            [world.action(name).status_message for name in 'abc'],
        )


class TestStatusMessageOfPlans(SkipCase):
    """It is updated when actions are skipped, and names them."""

    def test_a_plan_keeps_skip_messages_when_actions_fail(self) -> None:
        plan = self.world.create('a', action('b', 'fails'))
        self.skip('a')
        self.world.worker()
        self.world.plans.start(plan.uuid)
        self.world.wait_until_ended(plan)
        self.assertEqual(
            (
                'plan',
                'ONGOING',
                'FAILED',
                'An action failed: no disk. One or more actions were skipped. '
                'Action a was skipped by user.',
            ),
            self.world.history(plan)[-1],
        )
