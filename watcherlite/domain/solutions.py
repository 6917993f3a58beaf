"""Solutions: the proposals of a strategy, from which a planner creates a plan."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions

#: Filled from `resource_id`; reserved among the inputs.
RESOURCE_ID = 'resource_id'


@dataclasses.dataclass(frozen=True, slots=True)
class IndicatorSpecification:
    """An efficacy indicator of a goal, by which solutions are compared.

    :param schema: JSON schema of its value, a number
    """

    name: str
    description: str = ''
    unit: str | None = None
    schema: Mapping[str, Any] = dataclasses.field(
        default_factory=lambda: {'type': 'number'}
    )

    def to_mapping(self) -> dict[str, Any]:
        """Return its representation in the API: the schema is text, as in Watcher."""
        return {
            'name': self.name,
            'description': self.description,
            'unit': self.unit,
            'schema': json.dumps(dict(self.schema), sort_keys=True),
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Indicator:
    """An indicator with its value."""

    name: str
    value: float
    description: str = ''
    unit: str | None = None

    def to_mapping(self) -> dict[str, Any]:
        """Return its representation in plans."""
        return {
            'name': self.name,
            'description': self.description,
            'unit': self.unit,
            'value': self.value,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class ProposedAction:
    """One action of a solution.

    :param name: unique in the solution
    :param parents: names of others; only some planners use them
    :param timeout: seconds; 0: the option `default_action_timeout`
    """

    name: str
    action_type: str
    input_parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    parents: tuple[str, ...] = ()
    target: str | None = None
    timeout: int = 0


class Solution:
    """Proposed actions in the order of the strategy, and efficacy indicators.

    :param planner: of the plan; None: that of the strategy
    :ivar indicators: the values of the goal's indicators, by name
    """

    def __init__(self, planner: str | None = None) -> None:
        self.planner = planner
        self.indicators: dict[str, float] = {}
        self._actions: dict[str, ProposedAction] = {}
        self._numbers: dict[str, int] = {}
        #: content of an action without its name -> the name of the first such action
        self._known: dict[str, str] = {}

    @property
    def actions(self) -> Sequence[ProposedAction]:
        """Return the actions, in the order in which they were added."""
        return tuple(self._actions.values())

    def add_action(
        self,
        action_type: str,
        input_parameters: Mapping[str, Any] | None = None,
        resource_id: str | None = None,
        *,
        name: str | None = None,
        parents: Iterable[str] = (),
        target: str | None = None,
        timeout: int = 0,
    ) -> str:
        """Add an action and return its name.

        An unnamed one that is identical to an earlier one is not added again; the name
        of the earlier one is returned.

        :param resource_id: added to the inputs under that key
        :param name: None: generated from the type and a number
        :raises Invalid: the name is taken, or `resource_id` is among the inputs
        """
        inputs = dict(input_parameters or {})
        if RESOURCE_ID in inputs:
            raise exceptions.Invalid(
                f'The input {RESOURCE_ID} of a proposed {action_type} is reserved; '
                f'pass it as the argument {RESOURCE_ID}'
            )
        if resource_id is not None:
            inputs[RESOURCE_ID] = resource_id
        action = ProposedAction(
            name or '', action_type, inputs, tuple(parents), target, timeout
        )
        content = _content(action)
        if name is None:
            if content in self._known:
                return self._known[content]
            action = dataclasses.replace(action, name=self._free_name(action_type))
        elif name in self._actions:
            raise exceptions.Invalid(
                f'Two proposed actions have the name {name}; each needs its own'
            )
        self._known.setdefault(content, action.name)
        self._actions[action.name] = action
        return action.name

    def set_efficacy_indicators(self, **values: float) -> None:
        """Set the values of indicators of the goal, by name."""
        self.indicators.update(values)

    def _free_name(self, action_type: str) -> str:
        while True:
            number = self._numbers.get(action_type, 0) + 1
            self._numbers[action_type] = number
            name = f'{action_type}-{number}'
            if name not in self._actions:
                return name


def _content(action: ProposedAction) -> str:
    """Return a text that identifies the content of an action without its name.

    A lookup takes constant time.
    """
    parts = (
        action.action_type,
        action.input_parameters,
        action.parents,
        action.target,
        action.timeout,
    )
    try:
        return json.dumps(parts, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        # Not JSON; the planner reports it, with the name of the action.
        return repr(parts)
