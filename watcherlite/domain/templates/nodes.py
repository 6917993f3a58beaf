"""Nodes: the compiled values of a template."""

import dataclasses
import enum
from collections.abc import Callable
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.markup import path_text
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates.scope import (
    OMITTED,
    EvaluationError,
    Scope,
    deep_copy,
)


class EvaluationFailed(exceptions.StackValidationFailed):
    """The evaluation of a part of a template failed."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        super().__init__(f'{path_text(path)}: {text}')


class Referent(enum.Enum):
    """The kind of the object that the first argument of a function names."""

    PARAMETER = 'parameter'
    RESOURCE = 'resource'
    ATTRIBUTE = 'attribute of a resource'
    FILE = 'file'


@dataclasses.dataclass(frozen=True, slots=True)
class Name:
    """A reference to a name.

    :param shown: for messages: a name from parameters may be a secret
    :param path: of the reference
    """

    name: str
    shown: str
    path: Path


@dataclasses.dataclass(frozen=True, slots=True)
class Attribute:
    """A reference to an attribute of a resource.

    :param shown: see `ReferencedNames`
    """

    resource: str
    name: str
    shown: str
    path: Path


@dataclasses.dataclass(slots=True)
class ReferencedNames:
    """The references of a part of a template.

    :ivar resources: by get_resource and get_attr
    :ivar attributes: by get_attr
    :ivar files: by get_file
    """

    resources: list[Name] = dataclasses.field(default_factory=list)
    attributes: list[Attribute] = dataclasses.field(default_factory=list)
    files: list[Name] = dataclasses.field(default_factory=list)


class ValueNode(Protocol):
    """A part of a template; thread-safe."""

    def value(self, scope: Scope) -> Any:
        """Return the value; raises StackValidationFailed."""

    def add_references(self, scope: Scope, named: ReferencedNames) -> None:
        """Add the references of the node in a scope."""


@dataclasses.dataclass(frozen=True, slots=True)
class Static:
    """A constant."""

    content: Any

    def value(self, scope: Scope) -> Any:
        return deep_copy(self.content)

    def add_references(self, scope: Scope, named: ReferencedNames) -> None:
        """Do nothing: a constant has no references."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mapped:
    """A mapping that contains functions."""

    items: tuple[tuple[str, ValueNode], ...]

    def value(self, scope: Scope) -> Any:
        found = ((key, node.value(scope)) for key, node in self.items)
        return {key: value for key, value in found if value is not OMITTED}

    def add_references(self, scope: Scope, named: ReferencedNames) -> None:
        for _, node in self.items:
            node.add_references(scope, named)


@dataclasses.dataclass(frozen=True, slots=True)
class Listed:
    """A list that contains functions."""

    items: tuple[ValueNode, ...]

    def value(self, scope: Scope) -> Any:
        found = (node.value(scope) for node in self.items)
        return [value for value in found if value is not OMITTED]

    def add_references(self, scope: Scope, named: ReferencedNames) -> None:
        for node in self.items:
            node.add_references(scope, named)


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """A call of a function; its arguments are evaluated first.

    :param refers: the kind that its first argument names, or None
    """

    name: str
    function: Callable[[Any, Scope], Any]
    arguments: ValueNode
    path: Path
    refers: Referent | None = None

    def value(self, scope: Scope) -> Any:
        try:
            arguments = self.arguments.value(scope)
            if arguments is OMITTED:
                arguments = None
            return self.function(arguments, scope)
        except EvaluationError as error:
            text = str(error)
            if error.names and self._has_own_names():
                text += f': {", ".join(error.names)}'
            raise EvaluationFailed(self.path, text) from None

    def add_references(self, scope: Scope, named: ReferencedNames) -> None:
        self.arguments.add_references(scope, named)
        if self.refers in (None, Referent.PARAMETER):
            return
        name, shown = self._argument(0, scope)
        if not isinstance(name, str):
            return
        found = named.files if self.refers is Referent.FILE else named.resources
        found.append(Name(name, shown, self.path))
        if self.refers is Referent.ATTRIBUTE:
            attribute, shown = self._argument(1, scope)
            if isinstance(attribute, str):
                named.attributes.append(Attribute(name, attribute, shown, self.path))

    def _argument(self, at: int, scope: Scope) -> tuple[Any, str]:
        """Return an argument, or None, and its text for messages."""
        node = self.arguments
        if isinstance(node, Listed):
            if at >= len(node.items):
                return None, ''
            node, at = node.items[at], 0
        value = node.value(scope)
        if isinstance(value, list):
            value = value[at] if at < len(value) else None
        elif at:
            value = None
        return value, str(value) if isinstance(node, Static) else 'of that name'

    def _has_own_names(self) -> bool:
        """Return whether the names in the arguments are constant."""
        params = self.arguments
        if isinstance(params, Mapped):
            params = dict(params.items).get('params', params)
        return isinstance(params, (Static, Mapped))


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """An `if`: only one branch is evaluated.

    :param otherwise: None: the `if` omits the element that contains it
    """

    condition: ValueNode
    then: ValueNode
    otherwise: ValueNode | None
    path: Path

    def value(self, scope: Scope) -> Any:
        chosen = self._selected_branch(scope)
        return OMITTED if chosen is None else chosen.value(scope)

    def add_references(self, scope: Scope, named: ReferencedNames) -> None:
        chosen = self._selected_branch(scope)
        if chosen is not None:
            chosen.add_references(scope, named)

    def _selected_branch(self, scope: Scope) -> ValueNode | None:
        if evaluate_condition(self.condition, scope, (*self.path, 0)):
            return self.then
        return self.otherwise


@dataclasses.dataclass(frozen=True, slots=True)
class NamedCondition:
    """A condition of the section `conditions`."""

    name: str

    def value(self, scope: Scope) -> Any:
        return scope.conditions[self.name]

    def add_references(self, scope: Scope, named: ReferencedNames) -> None:
        """Do nothing: conditions cannot refer to resources."""


def evaluate_condition(node: ValueNode, scope: Scope, path: Path) -> bool:
    """Return the value of a condition."""
    value = node.value(scope)
    if not isinstance(value, bool):
        raise EvaluationFailed(
            path, f'this is {kind(value)}; a condition must be true or false'
        )
    return value


def holds(node: ValueNode | None, scope: Scope, path: Path) -> bool:
    """Return the value of the condition at a path; None counts as true."""
    return node is None or evaluate_condition(node, scope, path)
