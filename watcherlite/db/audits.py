"""The interface of the store for audits, their templates, and rows of plugins."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import (
    Audit,
    AuditRelations,
    AuditTemplate,
    NewAuditTemplate,
    NewGoal,
    NewScoringEngine,
    NewStrategy,
)


class AuditTransaction(Protocol):
    """The methods of `db.api.Transaction` for audits and templates."""

    def lock_audit(self, uuid: str) -> Audit | None:
        """Lock and return an audit that is not deleted; None if there is none.

        Lock an audit before you change it or add events for it.
        """

    def save_audit(self, audit: Audit) -> None:
        """Write all fields but the uuid of an audit that this transaction has locked.

        Conflict if another audit of that name exists that is not deleted.
        """

    def lock_audit_template(self, uuid: str) -> AuditTemplate | None:
        """Lock and return a template that is not deleted; None if there is none."""

    def save_audit_template(self, template: AuditTemplate) -> None:
        """Write a template that this transaction has locked; Conflict for its name."""

    def insert_audit_template(self, template: NewAuditTemplate) -> AuditTemplate:
        """Insert a template; return it with its id; Conflict for its name."""

    def sync_goals(self, goals: Sequence[NewGoal], now: datetime.datetime) -> None:
        """Insert new goals, and update changed ones, by name.

        Stored goals that are not in `goals` are kept, because audits refer to them.
        """

    def sync_strategies(
        self, strategies: Mapping[str, Sequence[NewStrategy]], now: datetime.datetime
    ) -> None:
        """Insert new strategies, and update changed ones, by name.

        `strategies` maps names of stored goals, NotFound if there is none. The
        `goal_id` of the strategies is ignored.
        """

    def sync_scoring_engines(
        self, engines: Sequence[NewScoringEngine], now: datetime.datetime
    ) -> None:
        """Insert new scoring engines, and update changed ones, by name."""

    def plans_of_audit(self, audit_id: int, states: Iterable[str]) -> list[ActionPlan]:
        """Lock and return the plans of an audit that are in one of these states."""


class AuditStore(Protocol):
    """The methods of `db.api.Store` for audits."""

    def get_audit(self, uuid: str) -> Audit:
        """Return an audit that is not deleted; raise NotFound if there is none."""

    def audit_relations(self, audit_id: int) -> AuditRelations | None:
        """Return an audit, deleted or not, with its goal and strategy.

        None if there is no such audit. Its strategy is None if the goal selects it.
        """

    def relations_of_audits(
        self, audit_ids: Sequence[int]
    ) -> dict[int, AuditRelations]:
        """Return audits with their goals and strategies, by id."""

    def has_plan_in(self, states: Iterable[str]) -> bool:
        """Return whether any plan is in one of these states."""

    def expired_plans(
        self, states: Iterable[str], before: datetime.datetime, limit: int
    ) -> list[ActionPlan]:
        """Return plans in these states that were created earlier, the oldest first."""
