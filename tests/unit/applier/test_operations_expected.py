"""Operations that are only to be done in the state that their caller has seen."""

from tests.unit.applier.operating import OperationsCase
from watcherlite import exceptions
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


class TestExpectedStates(OperationsCase):
    def refused(self, operation, plan, expected):
        """Return why an operation is refused that must change nothing then."""
        error = self.assertRaises(
            exceptions.Conflict, operation, plan.uuid, expected=expected
        )
        self.assertEqual(plan.state, self.store.get_plan(plan.uuid).state)
        self.assertEqual([], self.told)
        return str(error)

    def test_a_plan_that_is_as_expected_is_started(self):
        plan, _ = self.a_plan(states.INIT, state=plan_states.RECOMMENDED)
        after = self.operations.start(plan.uuid, expected=plan_states.RECOMMENDED)
        self.assertEqual(plan_states.PENDING, after.state)

    def test_one_that_somebody_else_has_started_is_not(self):
        plan, _ = self.a_plan(states.INIT, state=plan_states.PENDING)
        self.assertEqual(
            "Couldn't start when state is 'PENDING'.",
            self.refused(self.operations.start, plan, plan_states.RECOMMENDED),
        )

    def test_one_that_has_begun_to_run_is_not_cancelled_as_if_it_had_not(self):
        plan, _ = self.a_plan(states.RUNNING, state=plan_states.ONGOING)
        self.assertEqual(
            "Couldn't cancel when state is 'ONGOING'.",
            self.refused(self.operations.cancel, plan, plan_states.PENDING),
        )

    def test_one_that_somebody_else_has_cancelled_is_not_cancelled_again(self):
        plan, _ = self.a_plan(states.CANCELLED, state=plan_states.CANCELLED)
        self.assertEqual(
            "Couldn't cancel when state is 'CANCELLED'.",
            self.refused(self.operations.cancel, plan, plan_states.RECOMMENDED),
        )

    def test_one_that_is_as_expected_is_cancelled(self):
        plan, _ = self.a_plan(states.RUNNING, state=plan_states.ONGOING)
        after = self.operations.cancel(plan.uuid, expected=plan_states.ONGOING)
        self.assertEqual(plan_states.CANCELLING, after.state)
