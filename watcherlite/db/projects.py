"""The part of the store that knows what a project has, and has once."""

from typing import Protocol

from watcherlite.db.clusters import ClusterObject
from watcherlite.domain.actions import Action


class ProjectTransaction(Protocol):
    """The part of `db.api.Transaction` that is about what a project has.

    For who counts that, or looks whether a name is free, and stores something if it
    may be. What is asked here is asked within the transaction: where many wait for the
    same project, a question on another connection might wait for theirs.
    """

    def lock_tenant(self, tenant: str) -> None:
        """Keep all others who lock this project waiting until the end.

        What they and this one are told of it stays true as long. One in a
        transaction, locked after clusters and nodes, and before profiles, policies,
        receivers and actions.
        """

    def has_name(self, kind: type[ClusterObject], name: str, tenant: str) -> bool:
        """Say whether something of a kind that is not deleted has this name."""

    def unfinished_of(self, action_type: str, tenant: str) -> list[Action]:
        """Return the unfinished actions of a type, by id."""

    def count_clusters(self, tenant: str) -> int:
        """Return how many clusters are not deleted."""

    def count_stacks(self, tenant: str) -> int:
        """Return how many stacks are not deleted, and not in others."""
