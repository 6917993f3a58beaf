"""The states of action plans."""

from tests import base
from tests.unit.states.tables import TableCase
from watcherlite.states import action_plan as states


class ActionPlanTableTest(TableCase, base.TestCase):
    """The table of states, as in Watcher."""

    machine = states.MACHINE
    expected = """
        RECOMMENDED -> PENDING CANCELLED SUPERSEDED SUCCEEDED DELETED
        PENDING -> ONGOING CANCELLED
        ONGOING -> SUCCEEDED FAILED CANCELLING
        CANCELLING -> CANCELLED
        SUCCEEDED -> DELETED
        FAILED -> DELETED
        CANCELLED -> DELETED
        SUPERSEDED -> DELETED
    """

    def test_the_groups_of_states(self) -> None:
        self.assertEqual(
            {'SUCCEEDED', 'FAILED', 'CANCELLED', 'SUPERSEDED', 'DELETED'}, states.ENDED
        )
        self.assertEqual({'PENDING', 'ONGOING', 'CANCELLING'}, states.ACTIVE)
        self.assertEqual(
            {'RECOMMENDED'}, set(states.STATES) - states.ENDED - states.ACTIVE
        )
        self.assertEqual({'RECOMMENDED', 'PENDING'}, states.SKIPPABLE)

    def test_an_ended_plan_is_never_active_again(self) -> None:
        for source in states.ENDED:
            self.assertEqual(set(), states.MACHINE.successors(source) - states.ENDED)

    def test_every_option_of_a_plan_has_a_description(self) -> None:
        self.assertEqual({'continue', 'stop', 'rollback'}, set(states.ON_FAILURE))
        self.assertEqual({'resume', 'fail', 'cancel'}, set(states.ON_WORKER_LOSS))
        for text in (*states.ON_FAILURE.values(), *states.ON_WORKER_LOSS.values()):
            self.assertGreater(len(text.split()), 3)
