"""The properties of every state table."""

from watcherlite.states.machine import Machine


class TableCase:
    """Tests of one state table; derived classes set `machine` and `expected`."""

    machine: Machine
    #: The expected table: 'A -> B C', one line for each state.
    expected: str

    def test_every_pair_is_allowed_or_not_as_the_design_says(self) -> None:
        allowed = {
            (source, target)
            for line in self.expected.strip().splitlines()
            for source, _, targets in [line.strip().partition(' -> ')]
            for target in targets.split()
        }
        pairs = {(a, b) for a in self.machine.states for b in self.machine.states}
        self.assertEqual(
            allowed, {pair for pair in pairs if self.machine.allows(*pair)}
        )

    def test_every_state_and_every_transition_has_a_reason(self) -> None:
        for state, meaning in self.machine.states.items():
            self.assertRegex(meaning, r'^[A-Z].*\.$', state)
        for pair, reason in self.machine.transitions.items():
            self.assertGreater(len(reason.split()), 0, pair)

    def test_every_state_is_reachable_and_every_final_state_is_declared(self) -> None:
        reached = set(self.machine.initial)
        while True:
            more = {t for s, t in self.machine.transitions if s in reached} - reached
            if not more:
                break
            reached |= more
        self.assertEqual(set(self.machine.states), reached)

    def test_no_state_leads_to_itself(self) -> None:
        self.assertEqual([], [p for p in self.machine.transitions if p[0] == p[1]])
