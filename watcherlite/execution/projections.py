"""The projections of actions on the objects that they are about.

A resource is CREATE_IN_PROGRESS because an action runs that creates it. That it is
so is written in the transaction that starts the action, and how it went in the one
that ends it, whoever writes that: nothing can stay in progress by itself.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from watcherlite.db.api import Transaction
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event


class Projection(Protocol):
    """Lets what actions are about follow what becomes of them."""

    def is_affected_by(self, action: Action) -> bool:
        """Return whether an action is about something that follows it; quickly."""

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        """Lock what these actions are about; return it, for `follow`.

        Called before the actions are changed, with those that `concerns` is true
        of: whoever changes both locks in this order.
        """

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[tuple[ActionChange, Mapping[str, Any] | None]],
        now: datetime.datetime,
    ) -> list[Event]:
        """Change what these changes, which took effect, are about.

        :param held: what `lock` returned
        :param changes: each with the detail of its event
        """


class NoProjection:
    """For workers whose actions are about nothing that has a state of its own."""

    def is_affected_by(self, action: Action) -> bool:
        """Say no."""
        return False

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        """Lock nothing."""
        return None

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[tuple[ActionChange, Mapping[str, Any] | None]],
        now: datetime.datetime,
    ) -> list[Event]:
        """Change nothing."""
        return []


class CompositeProjection:
    """Subjects of several kinds, each told only of its own.

    They lock in the order in which they are given.
    """

    def __init__(self, *projection: Projection) -> None:
        self._projection = projection

    def is_affected_by(self, action: Action) -> bool:
        """Return whether one of them is concerned."""
        return any(one.is_affected_by(action) for one in self._projection)

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        """Let each of them lock what its actions are about."""
        held = []
        for one in self._projection:
            own = [action for action in actions if one.is_affected_by(action)]
            held.append(one.lock(tx, own) if own else None)
        return held

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[tuple[ActionChange, Mapping[str, Any] | None]],
        now: datetime.datetime,
    ) -> list[Event]:
        """Let each of them follow its own; return the events in that order."""
        events: list[Event] = []
        for one, its_own in zip(self._projection, held, strict=True):
            own = [change for change in changes if one.is_affected_by(change[0].after)]
            if own:
                events += one.apply(tx, its_own, own, now)
        return events
