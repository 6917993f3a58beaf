"""The statuses of actions, and how others see them."""

from tests import base
from tests.unit.states.tables import TableCase
from watcherlite.states import action as states


class ActionTableTest(TableCase, base.TestCase):
    """design.md 4.1."""

    machine = states.MACHINE
    expected = """
        INIT -> WAITING READY SKIPPED CANCELLED
        WAITING -> READY SKIPPED FAILED CANCELLED SUSPENDED
        READY -> RUNNING SKIPPED FAILED CANCELLED WAITING SUSPENDED
        RUNNING -> SUCCEEDED FAILED CANCELLED SUSPENDED READY WAITING
        SUSPENDED -> RUNNING CANCELLED FAILED READY WAITING
    """

    def test_the_groups_divide_all_statuses(self) -> None:
        groups = [states.NOT_STARTED, states.STARTED, states.FINAL]
        self.assertEqual(set(states.STATES), set().union(*groups))
        self.assertEqual(len(states.STATES), sum(map(len, groups)))

    def test_what_was_never_started_may_end_in_no_way_but_these(self) -> None:
        # Spec 000: SKIPPED is for actions which were never executed.
        self.assertEqual(states.NOT_STARTED, states.MACHINE.sources(states.SKIPPED))
        self.assertEqual({states.RUNNING}, states.MACHINE.sources(states.SUCCEEDED))


class ProjectionTest(base.TestCase):
    """The two vocabularies shown outside."""

    def test_both_are_total(self) -> None:
        self.assertEqual(set(states.STATES), set(states.INFRA_OPTIM))
        self.assertEqual(set(states.STATES), set(states.CLUSTERING))

    def test_infra_optim_knows_the_states_of_watcher_only(self) -> None:
        self.assertEqual(
            {'PENDING', 'ONGOING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'SKIPPED'},
            set(states.INFRA_OPTIM.values()),
        )

    def test_clustering_shows_the_statuses_as_they_are(self) -> None:
        for status in states.STATES:
            self.assertEqual(status, states.CLUSTERING[status])

    def test_what_waits_is_pending_until_it_has_started(self) -> None:
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
    """Which signal makes sense in which status (spec 001)."""

    def test_every_pair(self) -> None:
        self.assertEqual(
            {
                'CANCEL': {'INIT', 'WAITING', 'READY', 'RUNNING', 'SUSPENDED'},
                'SUSPEND': {'RUNNING', 'WAITING'},
                'RESUME': {'SUSPENDED'},
            },
            {signal: set(where) for signal, where in states.SIGNAL_ALLOWED.items()},
        )
        self.assertEqual(states.SIGNALS, set(states.SIGNAL_ALLOWED))

    def test_a_signal_that_is_allowed_can_take_effect(self) -> None:
        effect = {
            'CANCEL': states.CANCELLED,
            'SUSPEND': states.SUSPENDED,
            'RESUME': states.RUNNING,
        }
        for signal, where in states.SIGNAL_ALLOWED.items():
            for status in where:
                self.assertTrue(states.MACHINE.allows(status, effect[signal]))
