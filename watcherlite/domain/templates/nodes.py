"""What a template says, made ready to be evaluated any number of times."""

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.json_values import kind
from watcherlite.domain.markup import path_text
from watcherlite.domain.templates.scope import OMITTED, Scope, Unfit, copied
from watcherlite.domain.yaml_values import Path


class Failed(exceptions.StackValidationFailed):
    """One place of a template cannot be evaluated."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        super().__init__(f'{path_text(path)}: {text}')


@dataclasses.dataclass(frozen=True, slots=True)
class Name:
    """A name that a part of a template refers to.

    :param shown: for messages: a name that was made of parameters may be a secret
    :param path: of where it is referred to
    """

    name: str
    shown: str
    path: Path


@dataclasses.dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a resource that a part of a template refers to.

    :param shown: likewise
    """

    resource: str
    name: str
    shown: str
    path: Path


@dataclasses.dataclass(slots=True)
class Named:
    """What is referred to.

    :ivar resources: by get_resource and get_attr
    :ivar attributes: by get_attr
    :ivar files: by get_file
    """

    resources: list[Name] = dataclasses.field(default_factory=list)
    attributes: list[Attribute] = dataclasses.field(default_factory=list)
    files: list[Name] = dataclasses.field(default_factory=list)


class Node(Protocol):
    """A part of a template; any number of threads may use it at once."""

    def value(self, scope: Scope) -> Any:
        """Return what it stands for; raises StackValidationFailed."""

    def refer(self, scope: Scope, named: Named) -> None:
        """Tell what it refers to, as conditions and parameters have it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Static:
    """A part without functions."""

    content: Any

    def value(self, scope: Scope) -> Any:
        return copied(self.content)

    def refer(self, scope: Scope, named: Named) -> None:
        """Tell nothing: it refers to nothing."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mapped:
    """A mapping with functions somewhere in it."""

    items: tuple[tuple[str, Node], ...]

    def value(self, scope: Scope) -> Any:
        found = ((key, node.value(scope)) for key, node in self.items)
        return {key: value for key, value in found if value is not OMITTED}

    def refer(self, scope: Scope, named: Named) -> None:
        for _, node in self.items:
            node.refer(scope, named)


@dataclasses.dataclass(frozen=True, slots=True)
class Listed:
    """A list with functions somewhere in it."""

    items: tuple[Node, ...]

    def value(self, scope: Scope) -> Any:
        found = (node.value(scope) for node in self.items)
        return [value for value in found if value is not OMITTED]

    def refer(self, scope: Scope, named: Named) -> None:
        for node in self.items:
            node.refer(scope, named)


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """A function; its arguments are evaluated first.

    :param refers: 'resource', 'file' or None: what its first argument names
    """

    name: str
    function: Callable[[Any, Scope], Any]
    arguments: Node
    path: Path
    refers: str | None = None

    def value(self, scope: Scope) -> Any:
        try:
            arguments = self.arguments.value(scope)
            if arguments is OMITTED:
                arguments = None
            return self.function(arguments, scope)
        except Unfit as error:
            text = str(error)
            if error.names and self._has_own_names():
                text += f': {", ".join(error.names)}'
            raise Failed(self.path, text) from None

    def refer(self, scope: Scope, named: Named) -> None:
        self.arguments.refer(scope, named)
        if self.refers is None:
            return
        name, shown = self._argument(0, scope)
        if not isinstance(name, str):
            return
        found = named.files if self.refers == 'file' else named.resources
        found.append(Name(name, shown, self.path))
        if self.name == 'get_attr':
            attribute, shown = self._argument(1, scope)
            if isinstance(attribute, str):
                named.attributes.append(Attribute(name, attribute, shown, self.path))

    def _argument(self, at: int, scope: Scope) -> tuple[Any, str]:
        """Return an argument, None if there is none, and how it is shown."""
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
        """Say whether the names among its arguments are those of the template."""
        params = self.arguments
        if isinstance(params, Mapped):
            params = dict(params.items).get('params', params)
        return isinstance(params, (Static, Mapped))


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """An `if`: only the branch that holds is looked at.

    :param otherwise: None: what it is in is left out
    """

    condition: Node
    then: Node
    otherwise: Node | None
    path: Path

    def value(self, scope: Scope) -> Any:
        chosen = self._chosen(scope)
        return OMITTED if chosen is None else chosen.value(scope)

    def refer(self, scope: Scope, named: Named) -> None:
        chosen = self._chosen(scope)
        if chosen is not None:
            chosen.refer(scope, named)

    def _chosen(self, scope: Scope) -> Node | None:
        if truth(self.condition, scope, (*self.path, 0)):
            return self.then
        return self.otherwise


@dataclasses.dataclass(frozen=True, slots=True)
class NamedCondition:
    """A condition of the section `conditions`."""

    name: str

    def value(self, scope: Scope) -> Any:
        return scope.conditions[self.name]

    def refer(self, scope: Scope, named: Named) -> None:
        """Tell nothing: conditions refer to no resources."""


def truth(node: Node, scope: Scope, path: Path) -> bool:
    """Return whether a condition holds."""
    value = node.value(scope)
    if not isinstance(value, bool):
        raise Failed(path, f'this is {kind(value)}; a condition must be true or false')
    return value


def holds(node: Node | None, scope: Scope, path: Path) -> bool:
    """Return whether the condition of what stands at a path holds; None always."""
    return node is None or truth(node, scope, (*path, 'condition'))
