"""Plans of `nop` actions, and their times."""

import dataclasses

from tests.bench.cases import CHAIN
from watcherlite.domain.documents.plan_document import ActionDocument, PlanDocument
from watcherlite.states import action_plan as states

_INPUTS = {'message': 'bench'}


@dataclasses.dataclass(frozen=True, slots=True)
class Timing:
    """The times of one plan, in seconds since the start command was sent.

    :param first: the first action became ONGOING
    :param done: the end of the plan was read from the database
    :param confirmed: the last notification was confirmed
    """

    first: float
    done: float
    confirmed: float


class PlanNotSucceeded(AssertionError):
    """A plan of `nop` actions did not end as SUCCEEDED."""


def document(shape: str, size: int) -> PlanDocument:
    """Return a plan document of a shape and a size."""
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


def timeout(size: int) -> float:
    """Return the timeout of a plan of a size, in seconds."""
    return 60 + size / 20
