"""Batches of a rolling update; pure functions."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite.domain.clusters import Node, Profile
from watcherlite.engine.clusters.node_record import INCOMPLETE_UPDATE


@dataclasses.dataclass(frozen=True, slots=True)
class UpdateBatches:
    """The batches of a rolling update.

    :param plan: uuids of nodes, by batch
    :param pause: seconds between two batches
    """

    plan: tuple[tuple[str, ...], ...]
    pause: float = 0.0

    @classmethod
    def of(cls, data: Mapping[str, Any], nodes: Sequence[str]) -> 'UpdateBatches':
        """Return the batches that a policy decided, limited to existing nodes.

        Other nodes are the last batch, and the only one without a policy.

        :param data: of the action; `update` is the decision of a policy
        :param nodes: uuids of the nodes to update
        """
        decision = data.get('update') or {}
        desired = set(nodes)
        plan: list[tuple[str, ...]] = []
        for batch in decision.get('plan') or ():
            found = tuple(uuid for uuid in dict.fromkeys(batch) if uuid in desired)
            desired.difference_update(found)
            if found:
                plan.append(found)
        rest = tuple(uuid for uuid in nodes if uuid in desired)
        if rest:
            plan.append(rest)
        return cls(tuple(plan), float(decision.get('pause_time') or 0))

    def next_after(self, ended: Collection[str]) -> tuple[str, ...]:
        """Return the rest of the first unfinished batch; () if none is left."""
        for batch in self.plan:
            left = tuple(uuid for uuid in batch if uuid not in ended)
            if left:
                return left
        return ()


def is_outdated(node: Node, profile: Profile) -> bool:
    """Return whether a node differs from a profile."""
    return node.profile_id != profile.id or bool(node.kept.get(INCOMPLETE_UPDATE))
