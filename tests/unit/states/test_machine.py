"""State machines."""

from tests import base
from watcherlite import exceptions
from watcherlite.states.machine import Machine

STATES = {'open': 'It is open.', 'shut': 'It is shut.', 'gone': 'It is no more.'}
TRANSITIONS = {
    ('open', 'shut'): 'closed',
    ('shut', 'open'): 'opened',
    ('shut', 'gone'): 'x',
}


class MachineTest(base.TestCase):
    """The machine of a door."""

    def setUp(self) -> None:
        super().setUp()
        self.door = Machine('door', STATES, TRANSITIONS, initial=('open',))

    def test_only_the_transitions_of_the_table_are_allowed(self) -> None:
        known = [*STATES, 'ajar']
        allowed = {
            (source, target)
            for source in known
            for target in known
            if self.door.allows(source, target)
        }
        self.assertEqual(set(TRANSITIONS), allowed)

    def test_a_refusal_names_both_states(self) -> None:
        self.door.check('open', 'shut')
        refusal = self.assertRaises(
            exceptions.TransitionNotAllowed, self.door.check, 'open', 'gone'
        )
        self.assertEqual('State transition not allowed: (open -> gone)', str(refusal))
        self.assertIsInstance(refusal, exceptions.Conflict)

    def test_successors_sources_and_the_final_state(self) -> None:
        self.assertEqual({'open', 'gone'}, self.door.successors('shut'))
        self.assertEqual({'shut'}, self.door.sources('gone'))
        self.assertEqual(frozenset(), self.door.successors('gone'))
        self.assertEqual({'gone'}, self.door.final)

    def test_a_transition_of_an_unknown_state_is_an_error(self) -> None:
        for transitions, initial in (({('open', 'ajar'): 'x'}, ()), ({}, ('ajar',))):
            error = self.assertRaises(
                ValueError, Machine, 'door', STATES, transitions, initial
            )
            self.assertEqual(
                "door: transitions name unknown states ['ajar']", str(error)
            )
