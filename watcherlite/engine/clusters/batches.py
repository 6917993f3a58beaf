"""Nodes that are updated one group after the other; all pure."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class Batches:
    """In which order the nodes of a cluster are updated.

    :param plan: uuids of nodes; those of one batch are updated together
    :param pause: seconds between the end of a batch and the begin of the next
    """

    plan: tuple[tuple[str, ...], ...]
    pause: float = 0.0

    @classmethod
    def of(cls, data: Mapping[str, Any], nodes: Sequence[str]) -> 'Batches':
        """Return what a policy decided, as far as it is about nodes that there are.

        Nodes that it says nothing of come last; without a policy they come at once.

        :param data: of the action: what a policy decided is its `update`
        :param nodes: uuids of the nodes that are to be updated
        """
        said = data.get('update') or {}
        wanted = set(nodes)
        plan: list[tuple[str, ...]] = []
        for batch in said.get('plan') or ():
            found = tuple(uuid for uuid in dict.fromkeys(batch) if uuid in wanted)
            wanted.difference_update(found)
            if found:
                plan.append(found)
        rest = tuple(uuid for uuid in nodes if uuid in wanted)
        if rest:
            plan.append(rest)
        return cls(tuple(plan), float(said.get('pause_time') or 0))

    def next_after(self, ended: Collection[str]) -> tuple[str, ...]:
        """Return the first batch of which a node has not been updated; (): none."""
        for batch in self.plan:
            left = tuple(uuid for uuid in batch if uuid not in ended)
            if left:
                return left
        return ()
