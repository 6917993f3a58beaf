"""The part of the store that changes what proposes plans.

As in `db.api`: compare and set, all or nothing, no query per row.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import (
    Audit,
    AuditSurroundings,
    AuditTemplate,
    Goal,
    Strategy,
)


class AuditTransaction(Protocol):
    """The part of `db.api.Transaction` that is about audits and templates."""

    def lock_audit(self, uuid: str) -> Audit | None:
        """Lock an audit that is not deleted until the end; None: it is gone.

        Who changes an audit, or writes events of it, locks it first.
        """

    def save_audit(self, audit: Audit) -> None:
        """Write all of an audit that this transaction has locked, but its uuid.

        Conflict when another one that is not deleted has its name.
        """

    def lock_audit_template(self, uuid: str) -> AuditTemplate | None:
        """Lock a template that is not deleted until the end; None: it is gone."""

    def save_audit_template(self, template: AuditTemplate) -> None:
        """Write all of a template that this transaction has locked; Conflict."""

    def insert_audit_template(self, template: AuditTemplate) -> AuditTemplate:
        """Store a new template; return it with its id; Conflict for its name."""

    def sync_goals(self, goals: Sequence[Goal], now: datetime.datetime) -> None:
        """Store goals that are new or have changed, by name, in place.

        What is stored and not in `goals` is left as it is: what was proposed for
        it stays readable.
        """

    def sync_strategies(
        self, strategies: Mapping[str, Sequence[Strategy]], now: datetime.datetime
    ) -> None:
        """Likewise for strategies; `strategies` maps the names of stored goals.

        NotFound when there is no such goal. Their own `goal_id` is not looked at.
        """

    def plans_of_audit(self, audit_id: int, states: Iterable[str]) -> list[ActionPlan]:
        """Lock and return the plans of an audit that are in one of these states."""


class AuditStore(Protocol):
    """The part of `db.api.Store` that is about audits."""

    def get_audit(self, uuid: str) -> Audit:
        """Return an audit that is not deleted; NotFound."""

    def audit_surroundings(self, audit_id: int) -> AuditSurroundings | None:
        """Return an audit, deleted or not, with its goal and strategy.

        None if it is gone. Its strategy is None where it leaves the choice to its
        goal.
        """

    def surroundings_of_audits(
        self, audit_ids: Sequence[int]
    ) -> dict[int, AuditSurroundings]:
        """Return the same of many audits, by id; those that are gone are left out."""

    def has_plan_in(self, states: Iterable[str]) -> bool:
        """Say whether any plan is in one of these states."""

    def expired_plans(
        self, states: Iterable[str], before: datetime.datetime, limit: int
    ) -> list[ActionPlan]:
        """Return plans in these states that were created earlier, the oldest first."""
