"""The interface of the store for quotas and unique names in projects."""

from typing import Protocol

from watcherlite.db.clusters import ClusterObject
from watcherlite.domain.actions import Action


class ProjectTransaction(Protocol):
    """The methods of `db.api.Transaction` that count and look up objects of a project.

    For transactions that insert an object if a quota or a unique name allows it. They
    are executed in the transaction: if many wait for the same project, a query on
    another connection might wait for theirs.
    """

    def lock_tenant(self, tenant: str) -> None:
        """Lock a project until the end of the transaction.

        Counts and names of the project cannot change until then. Lock at most one
        project: after clusters and nodes, before profiles, policies, receivers and
        actions.
        """

    def has_name(self, kind: type[ClusterObject], name: str, tenant: str) -> bool:
        """Return whether an object of a class that is not deleted has this name."""

    def unfinished_of(self, action_type: str, tenant: str) -> list[Action]:
        """Return the unfinished actions of a type, by id."""

    def count_clusters(self, tenant: str) -> int:
        """Return the number of clusters that are not deleted."""

    def count_stacks(self, tenant: str) -> int:
        """Return the number of stacks that are neither deleted nor nested."""
