"""The part of the in-memory store that knows what a project has."""

from watcherlite.db.clustering import Noun
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster
from watcherlite.testing.memory_tables import Tables, handed_out


class MemoryProjectTransaction:
    """`db.projects.ProjectTransaction` on the tables."""

    _tables: Tables

    def lock_tenant(self, tenant: str) -> None:
        """Do nothing: this transaction is the only one."""

    def has_name(self, kind: type[Noun], name: str, tenant: str) -> bool:
        return any(row.name == name for row in self._living(kind, tenant))

    def unfinished_of(self, action_type: str, tenant: str) -> list[Action]:
        rows = self._tables.actions.rows
        return [
            handed_out(rows[key])
            for key in sorted(rows)
            if (rows[key].action_type, rows[key].tenant) == (action_type, tenant)
            and not rows[key].finished
        ]

    def count_clusters(self, tenant: str) -> int:
        return len(self._living(Cluster, tenant))

    def count_stacks(self, tenant: str) -> int:
        return sum(
            row.tenant == tenant and row.owner_id is None and row.deleted_at is None
            for row in self._tables.stacks.rows.values()
        )

    def _living(self, kind: type[Noun], tenant: str) -> list[Noun]:
        return [
            row
            for row in self._tables.nouns[kind].rows.values()
            if row.owner.tenant == tenant and getattr(row, 'deleted_at', None) is None
        ]
