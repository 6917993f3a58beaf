"""Plans of `nop` actions, and when something of them happened."""

import dataclasses

from tests.bench.cases import CHAIN
from watcherlite.domain.documents import ActionDocument, PlanDocument
from watcherlite.states import action_plan as states

_INPUTS = {'message': 'bench'}


@dataclasses.dataclass(frozen=True, slots=True)
class Timing:
    """One execution of one plan; seconds since the command to start it was sent.

    :param first: the first action was ONGOING
    :param done: the plan was seen to have ended, durably
    :param told: the last notification was confirmed
    """

    first: float
    done: float
    told: float


class PlanNotSucceeded(AssertionError):
    """A plan of actions that do nothing has not SUCCEEDED."""


def document(shape: str, size: int) -> PlanDocument:
    """Return a plan of a shape and a size."""
    actions = tuple(
        ActionDocument(
            name=f'action-{number}',
            action_type='nop',
            input_parameters=_INPUTS,
            parents=(f'action-{number - 1}',) if shape == CHAIN and number > 1 else (),
        )
        for number in range(1, size + 1)
    )
    return PlanDocument('bench', states.CONTINUE, None, actions)


def patience(size: int) -> float:
    """Return the seconds after which a plan of a size is taken to be stuck."""
    return 60 + size / 20
