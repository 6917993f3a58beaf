"""Actions of plans that derive an operation in the lane of the engine.

The operation is an action of its own, as if a user had requested it: it takes the locks
and runs the policies. The action of the plan waits for its end without polling and
without a thread.
"""

import abc
from collections.abc import Sequence
from typing import Any

from watcherlite.domain.outcomes import Derived, DerivedAction, Done, Failed, Outcome
from watcherlite.engine.stacks.action_inputs import REASON, failure_reason
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as states

#: The key of the derived action.
OPERATION = 'operation'


class OperationAction(ActionType, abc.ABC):
    """An action of a plan that derives one operation."""

    # The operation outlives the worker; before it, nothing happens.
    idempotent = True

    @abc.abstractmethod
    def derive(self, context: ActionContext) -> DerivedAction:
        """Return the operation, with the key OPERATION."""

    @abc.abstractmethod
    def title(self, context: ActionContext) -> str:
        """Return the operation with its target: 'UPDATE of stack s'."""

    @abc.abstractmethod
    def results(self, context: ActionContext, result: DerivedResult) -> dict[str, Any]:
        """Return the outputs of the action after a successful operation."""

    def execute(self, context: ActionContext) -> Outcome:
        return Derived((self.derive(context),))

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Return the outcome of the operation."""
        (result,) = results
        title = self.title(context)
        match result.status:
            case states.SUCCEEDED:
                return Done(self.results(context, result))
            case states.CANCELLED:
                why = result.status_message or 'it was cancelled'
                return Failed(f'{title} was cancelled: {why}')
            case states.SKIPPED:
                return Failed(f'{title} was skipped: {result.status_message}')
        reason = failure_reason(result)
        return Failed(f'{title} failed: {reason}', outputs={REASON: reason})
