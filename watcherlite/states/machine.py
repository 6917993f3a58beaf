"""State machines as tables."""

from collections.abc import Iterable, Mapping

from watcherlite import exceptions


class Machine:
    """A named set of states and of allowed transitions.

    :param name: the object that has these states, for messages ('action')
    :param states: state -> its meaning in one sentence
    :param transitions: (from, to) -> its reason
    :param initial: the states of a new object
    """

    def __init__(
        self,
        name: str,
        states: Mapping[str, str],
        transitions: Mapping[tuple[str, str], str],
        initial: Iterable[str],
    ) -> None:
        self.name = name
        self.states = dict(states)
        self.transitions = dict(transitions)
        self.initial = frozenset(initial)
        unknown = {s for pair in transitions for s in pair} | self.initial
        unknown -= set(states)
        if unknown:
            names = sorted(unknown)
            raise ValueError(f'{name}: transitions name unknown states {names}')
        self.final = frozenset(states) - {source for source, _ in transitions}

    def allows(self, source: str, target: str) -> bool:
        """Return whether the transition from `source` to `target` is allowed."""
        return (source, target) in self.transitions

    def check(self, source: str, target: str) -> None:
        """Raise TransitionNotAllowed unless the transition is allowed."""
        if not self.allows(source, target):
            raise exceptions.TransitionNotAllowed(
                f'State transition not allowed: ({source} -> {target})'
            )

    def successors(self, source: str) -> frozenset[str]:
        """Return the states to which `source` has a transition."""
        return frozenset(t for s, t in self.transitions if s == source)

    def sources(self, target: str) -> frozenset[str]:
        """Return the states that have a transition to `target`."""
        return frozenset(s for s, t in self.transitions if t == target)
