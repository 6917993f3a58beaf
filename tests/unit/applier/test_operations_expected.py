"""Operations with an expected state."""

from tests.unit.applier.operating import OperationsCase
from watcherlite import exceptions
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


class TestExpectedStates(OperationsCase):
    def refused(self, operation, plan, expected):
        """Return the reason of a refusal, and assert that nothing changed."""
        error = self.assertRaises(
            exceptions.Conflict, operation, plan.uuid, expected=expected
        )
        self.assertEqual(plan.state, self.store.get_plan(plan.uuid).state)
        self.assertEqual([], self.told)
        return str(error)

    def test_a_plan_in_the_expected_state_is_started(self):
        plan, _ = self.a_plan(states.INIT, state=plan_states.RECOMMENDED)
        after = self.operations.start(plan.uuid, expected=plan_states.RECOMMENDED)
        self.assertEqual(plan_states.PENDING, after.state)

    def test_a_plan_that_another_user_started_is_not_started(self):
        plan, _ = self.a_plan(states.INIT, state=plan_states.PENDING)
        self.assertEqual(
            "Couldn't start when state is 'PENDING'.",
            self.refused(self.operations.start, plan, plan_states.RECOMMENDED),
        )

    def test_a_plan_that_runs_meanwhile_is_not_cancelled(self):
        plan, _ = self.a_plan(states.RUNNING, state=plan_states.ONGOING)
        self.assertEqual(
            "Couldn't cancel when state is 'ONGOING'.",
            self.refused(self.operations.cancel, plan, plan_states.PENDING),
        )

    def test_a_plan_that_another_user_cancelled_is_not_cancelled(self):
        plan, _ = self.a_plan(states.CANCELLED, state=plan_states.CANCELLED)
        self.assertEqual(
            "Couldn't cancel when state is 'CANCELLED'.",
            self.refused(self.operations.cancel, plan, plan_states.RECOMMENDED),
        )

    def test_a_plan_in_the_expected_state_is_cancelled(self):
        plan, _ = self.a_plan(states.RUNNING, state=plan_states.ONGOING)
        after = self.operations.cancel(plan.uuid, expected=plan_states.ONGOING)
        self.assertEqual(plan_states.CANCELLING, after.state)
