"""The purge of old rows, in batches."""

import collections
import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.purge_rules import (
    BATCH,
    CLUSTERS,
    COUNT_DEFINITIONS,
    COUNT_OLD_RESOURCES,
    DEFINITIONS,
    DELETE_AUDIT,
    DELETE_PLAN,
    LOCK_AUDIT,
    LOCK_PLAN,
    NODES,
    OF_PLAN,
    OF_PLANS,
    OLD_RESOURCES,
    PLANS,
    PLANS_OF_AUDITS,
    STACKS,
    UNREFERENCED,
    WITHOUT_PLAN,
    OwnedRows,
    PurgeRule,
    row_parameters,
)
from watcherlite.db.sqlalchemy.tables.stacks import resources

#: The limit of a purge without limit.
ALL = 2**31 - 1
#: Seconds during which an operation may use a definition before it stores a reference:
#: longer than any operation takes.
LONGEST = 2 * 24 * 3600

Counts = dict[str, int]


class Purger:
    """The methods of `db.api.Store` that purge rows, in batches; see `purge_rules`."""

    _db: Database

    def purge(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, int]:
        counts = {'action_plans': 0, 'audits': 0, 'actions': 0, 'events': 0}
        plans = self._db.rows(PLANS, before=before, limit=limit)
        # This reads all audits, so only the last of many calls does it.
        if len(plans) < limit:
            found: collections.Counter[str] = collections.Counter()
            for rule in UNREFERENCED:
                found.update(self._purge_rule(rule, before, ALL, dry_run))
            # Old events and actions without a plan are counted below.
            for purge in (self.purge_stacks, self.purge_clusters):
                found.update(purge(before, ALL, dry_run, recent_only=True))
            for table, count in found.items():
                if count or table in counts:
                    counts[table] = count
        if dry_run:
            self._count_plans(counts, [key for key, _ in plans])
            self._count_audits(counts, [audit for _, audit in plans if audit])
            self._count(counts, WITHOUT_PLAN, before=before)
            return counts
        for key, audit in plans:
            self._purge_plan(counts, key, audit, before)
        while self._purge_batch(counts, WITHOUT_PLAN, before=before):
            continue
        return counts

    def purge_stacks(
        self,
        before: datetime.datetime,
        limit: int,
        dry_run: bool = False,
        recent_only: bool = False,
    ) -> Counts:
        if not dry_run:
            counts = self._purge_rule(STACKS, before, limit)
            while self._purge_batch(counts, (OLD_RESOURCES,), before=before):
                continue
            return counts | self._purge_rule(DEFINITIONS, before, ALL)
        counts = self._purge_rule(STACKS, before, limit, True, recent_only)
        batches = self._batches(STACKS, before, limit)
        # MySQL has no empty lists, and no row has the id 0.
        ids = [row[0] for rows in batches for row in rows] or [0]
        values = {'ids': ids, 'before': before, 'longest': -LONGEST}
        counts['resources'] += self._db.rows(COUNT_OLD_RESOURCES, **values)[0][0]
        counts['definitions'] = self._db.rows(COUNT_DEFINITIONS, **values)[0][0]
        return counts

    def purge_clusters(
        self,
        before: datetime.datetime,
        limit: int,
        dry_run: bool = False,
        recent_only: bool = False,
    ) -> Counts:
        found = collections.Counter(
            self._purge_rule(NODES, before, ALL, dry_run, recent_only)
        )
        found.update(self._purge_rule(CLUSTERS, before, limit, dry_run, recent_only))
        return dict(found)

    def _purge_rule(
        self,
        rule: PurgeRule,
        before: datetime.datetime,
        limit: int,
        dry_run: bool = False,
        recent_only: bool = False,
    ) -> Counts:
        """Delete or count the rows of a rule; return their numbers by table.

        :param recent_only: count only those events and actions that changed since
            `before`
        """
        counts = {rule.table.name: 0, **{rows.table.name: 0 for rows in rule.owned}}
        for rows in self._batches(rule, before, limit):
            if dry_run:
                counts[rule.table.name] += len(rows)
                values = {**row_parameters(rows), 'before': before}
                self._count(counts, rule.owned, recent_only, **values)
                continue
            while self._purge_rows(rule, counts, rows, before):
                continue
        return counts

    def _batches(
        self, rule: PurgeRule, before: datetime.datetime, limit: int
    ) -> Iterator[Sequence[Any]]:
        """Yield the rows of a rule by id, in batches."""
        after = 0
        while limit > 0:
            rows = self._db.rows(
                rule.find,
                before=before,
                after=after,
                limit=min(limit, rule.batch),
                longest=-LONGEST,
            )
            if not rows:
                return
            yield rows
            after, limit = rows[-1][0], limit - len(rows)

    def _purge_rows(
        self,
        rule: PurgeRule,
        counts: Counts,
        rows: Sequence[Any],
        before: datetime.datetime,
    ) -> bool:
        """Delete a batch of owned rows, or the rows; return whether more are left."""
        with self._db.transaction() as session:
            ids = [row.id for row in rows]
            locked = session.rows(rule.lock, before=before, ids=ids, longest=-LONGEST)
            if not locked:
                return False
            values = row_parameters(locked)
            if _delete_batch(session, counts, rule.owned, **values):
                return True
            for statement in rule.bound:
                session.count(statement, ids=values['ids'])
            counts[rule.table.name] += session.count(rule.delete, ids=values['ids'])
            return False

    def _purge_batch(
        self, counts: Counts, owned: Sequence[OwnedRows], **values: Any
    ) -> bool:
        """Delete a batch of owned rows; return whether more may be left."""
        with self._db.transaction() as session:
            return _delete_batch(session, counts, owned, **values)

    def _purge_plan(
        self, counts: Counts, key: int, audit: int | None, before: datetime.datetime
    ) -> None:
        more = True
        while more:
            with self._db.transaction() as session:
                if audit is not None:
                    # Audits are locked before plans.
                    session.rows(LOCK_AUDIT, key=audit)
                if not session.rows(LOCK_PLAN, key=key, before=before):
                    return
                more = _delete_batch(session, counts, OF_PLAN, key=key)
                if not more:
                    counts['action_plans'] += session.count(DELETE_PLAN, key=key)
                    if audit is not None:
                        counts['audits'] += session.count(DELETE_AUDIT, key=audit)

    def _count(
        self,
        counts: Counts,
        owned: Sequence[OwnedRows],
        recent_only: bool = False,
        **values: Any,
    ) -> None:
        for rows in owned:
            dated = recent_only and rows.table is not resources
            statement = rows.count_recent if dated else rows.count
            counts[rows.table.name] += self._db.rows(statement, **values)[0][0]

    def _count_plans(self, counts: Counts, keys: Sequence[int]) -> None:
        counts['action_plans'] = len(keys)
        for begin in range(0, len(keys), BATCH):
            self._count(counts, OF_PLANS, ids=keys[begin : begin + BATCH])

    def _count_audits(self, counts: Counts, audits: Sequence[int]) -> None:
        """Count the audits whose plans would all be deleted.

        :param audits: the audit of each plan that would be deleted
        """
        gone = collections.Counter(audits)
        keys = list(gone)
        with self._db.transaction() as session:
            for begin in range(0, len(keys), BATCH):
                ids = keys[begin : begin + BATCH]
                for key, plans in session.rows(PLANS_OF_AUDITS, ids=ids):
                    counts['audits'] += plans == gone[key]


def _delete_batch(
    session: Session, counts: Counts, owned: Sequence[OwnedRows], **values: Any
) -> bool:
    """Delete a batch of each kind of owned rows; return whether more may be left.

    :param counts: increased by the numbers of deleted rows
    """
    full = False
    for rows in owned:
        found = session.rows(rows.find, limit=BATCH, **values)
        if found:
            ids = [row[0] for row in found]
            for statement in rows.delete:
                session.count(statement, ids=ids)
            counts[rows.table.name] += len(ids)
        full = full or len(found) == BATCH
    return full
