"""The scope and the budget of an evaluation."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.documents.json_values import MAX_DEPTH

#: Maximum number of characters and values that the functions of one resource or output
#: produce: a few nested replacements of a short text could fill any memory.
MAX_MADE = 4 * 1024 * 1024
#: The same for all functions of one request, unless its `EvaluationBudget` differs.
MAX_EVALUATED = 32 * 1024 * 1024
#: Maximum size of the outputs of a stack, or the resources of a preview, in bytes of
#: JSON.
MAX_SHOWN = 8 * 1024 * 1024
#: The cost of a value, or of a part of a text or list, plus its characters.
VALUE = 16


class References(Protocol):
    """The references and attributes of the resources of a stack.

    Resources that do not exist, and unknown attributes, are None.
    """

    def reference(self, name: str) -> Any:
        """Return the value of get_resource."""

    def attribute(self, name: str, path: Sequence[Any]) -> Any:
        """Return the value of get_attr.

        :param path: starts with the attribute; empty: a mapping of all attributes
        """


class NoReferences:
    """References while no resource exists."""

    def reference(self, name: str) -> Any:
        """Return None."""
        return None

    def attribute(self, name: str, path: Sequence[Any]) -> Any:
        """Return None."""
        return None


class EvaluationError(Exception):
    """A function has an invalid argument.

    The message contains no values: they may be of hidden parameters.

    :ivar names: a suffix of the message if the names are constant in the template
    """

    def __init__(self, text: str, names: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        super().__init__(text)


class _Omitted:
    """The value of an `if` that omits the element that contains it."""

    def __repr__(self) -> str:
        return 'OMITTED'


OMITTED = _Omitted()


class EvaluationBudget:
    """A budget of a request; not safe to share between threads.

    :param text: the message when it is exceeded, with {} for the amount
    """

    __slots__ = ('_left', '_limit', '_text')

    def __init__(
        self,
        limit: int = MAX_EVALUATED,
        text: str = 'the functions of the template make more than {} characters and '
        'values for one request; make less',
    ) -> None:
        self._limit = self._left = limit
        self._text = text

    def spend(self, amount: int) -> None:
        """Spend an amount; raises RequestLimitExceeded if it exceeds the budget."""
        self._left -= amount
        if self._left < 0:
            raise exceptions.RequestLimitExceeded(self._text.format(self._limit))


@dataclasses.dataclass(slots=True)
class Scope:
    """The scope of one evaluation; not safe to share between threads.

    :param parameters: by name, with the pseudo parameters
    :param conditions: the values of the named conditions
    :param left: the remaining budget of the evaluation
    :param budget: the budget of the request, or None
    :param facade: the parts of the resource that the stack is, or None
    """

    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    conditions: Mapping[str, bool] = dataclasses.field(default_factory=dict)
    references: References = dataclasses.field(default_factory=NoReferences)
    left: int = MAX_MADE
    budget: EvaluationBudget | None = None
    facade: Mapping[str, Any] | None = None

    def for_evaluation(self) -> 'Scope':
        """Return a copy for another evaluation."""
        return dataclasses.replace(self, left=MAX_MADE)

    def spend(self, amount: int) -> None:
        """Spend the cost of a value before it is produced.

        :raises EvaluationError: it exceeds the budget of the evaluation
        :raises RequestLimitExceeded: it exceeds the budget of the request
        """
        if self.budget is not None:
            self.budget.spend(amount)
        self.left -= amount
        if self.left < 0:
            raise EvaluationError(
                f'this makes more than {MAX_MADE} characters and values; make less'
            )

    def copy(self, value: Any) -> Any:
        """Return a deep copy, and spend its cost."""
        return self._copy(value, 0)

    def _copy(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            self.spend(len(value))
            return value
        self.spend(VALUE)
        if depth > MAX_DEPTH:
            raise EvaluationError(f'this is nested deeper than {MAX_DEPTH} levels')
        if isinstance(value, Mapping):
            return {k: self._copy(v, depth + 1) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._copy(v, depth + 1) for v in value]
        return value


def deep_copy(value: Any) -> Any:
    """Return a deep copy of a value of a template."""
    if isinstance(value, dict):
        return {key: deep_copy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [deep_copy(inner) for inner in value]
    return value
