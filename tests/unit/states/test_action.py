"""The state machine of actions, and its mappings."""

from tests import base
from tests.unit.states.tables import TableCase
from watcherlite.states import action as states


class ActionTableTest(TableCase, base.TestCase):
    """The table of statuses."""

    machine = states.MACHINE
    expected = """
        INIT -> WAITING READY SKIPPED CANCELLED
        WAITING -> READY SKIPPED FAILED CANCELLED SUSPENDED
        READY -> RUNNING SKIPPED FAILED CANCELLED WAITING SUSPENDED
        RUNNING -> SUCCEEDED FAILED CANCELLED SUSPENDED READY WAITING
        SUSPENDED -> RUNNING CANCELLED FAILED READY WAITING
    """

    def test_the_groups_partition_all_statuses(self) -> None:
        groups = [states.NOT_STARTED, states.STARTED, states.FINAL]
        self.assertEqual(set(states.STATES), set().union(*groups))
        self.assertEqual(len(states.STATES), sum(map(len, groups)))

    def test_unstarted_actions_have_a_fixed_set_of_ends(self) -> None:
        # Spec 000: SKIPPED is for actions which were never executed.
        self.assertEqual(states.NOT_STARTED, states.MACHINE.sources(states.SKIPPED))
        self.assertEqual({states.RUNNING}, states.MACHINE.sources(states.SUCCEEDED))


class ProjectionTest(base.TestCase):
    """The mappings of the APIs."""

    def test_mappings_are_total_and_have_the_states_of_the_apis(self) -> None:
        self.assertEqual(set(states.STATES), set(states.INFRA_OPTIM))
        self.assertEqual(
            {'PENDING', 'ONGOING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'SKIPPED'},
            set(states.INFRA_OPTIM.values()),
        )
        self.assertEqual({one: one for one in states.STATES}, {**states.CLUSTERING})

    def test_a_waiting_action_is_pending_until_it_has_started(self) -> None:
        shown = {
            status: (
                states.infra_optim_state(status),
                states.infra_optim_state(status, started=True),
            )
            for status in states.STATES
        }
        self.assertEqual(
            {
                'INIT': ('PENDING', 'PENDING'),
                'WAITING': ('PENDING', 'ONGOING'),
                'READY': ('PENDING', 'ONGOING'),
                'RUNNING': ('ONGOING', 'ONGOING'),
                'SUSPENDED': ('ONGOING', 'ONGOING'),
                'SUCCEEDED': ('SUCCEEDED', 'SUCCEEDED'),
                'FAILED': ('FAILED', 'FAILED'),
                'CANCELLED': ('CANCELLED', 'CANCELLED'),
                'SKIPPED': ('SKIPPED', 'SKIPPED'),
            },
            shown,
        )


class SignalTest(base.TestCase):
    """The signals that each status permits (spec 001)."""

    def test_each_signal_is_allowed_in_its_statuses(self) -> None:
        self.assertEqual(
            {
                'CANCEL': {'INIT', 'WAITING', 'READY', 'RUNNING', 'SUSPENDED'},
                'SUSPEND': {'RUNNING', 'WAITING'},
                'RESUME': {'SUSPENDED'},
            },
            {signal: set(where) for signal, where in states.SIGNAL_ALLOWED.items()},
        )
        self.assertEqual(states.SIGNALS, set(states.SIGNAL_ALLOWED))

    def test_an_allowed_signal_has_a_transition(self) -> None:
        effect = {
            'CANCEL': states.CANCELLED,
            'SUSPEND': states.SUSPENDED,
            'RESUME': states.RUNNING,
        }
        for signal, where in states.SIGNAL_ALLOWED.items():
            for status in where:
                self.assertTrue(states.MACHINE.allows(status, effect[signal]))
