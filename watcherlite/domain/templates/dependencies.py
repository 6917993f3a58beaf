"""The resources of a stack whose conditions are true, and their dependencies."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import graph
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates import (
    definitions,
    document,
    implied_dependencies,
    nodes,
)
from watcherlite.domain.templates.environment import Registry
from watcherlite.domain.templates.formats import Format
from watcherlite.domain.templates.scope import Scope
from watcherlite.domain.templates.template import Template

_Found = tuple[Path, str]
#: Maximum number of resources in a message about a circular dependency.
_NAMED = 50


@dataclasses.dataclass(frozen=True, slots=True)
class Resolved:
    """The resources of a stack; see `blueprint.Blueprint`."""

    resources: Mapping[str, definitions.ResourceDefinition]
    requires: Mapping[str, tuple[str, ...]]
    handlers: Mapping[str, str]
    attributes: tuple[nodes.Attribute, ...]


def resolve(
    template: Template, source: Mapping[str, Any], scope: Scope, registry: Registry
) -> Resolved:
    """Return the resources of a template in a scope, with their dependencies.

    The cost is that of reading the template.

    :param source: the document of the template, for the lines of problems
    :raises CircularDependency: this is the only problem
    :raises StackValidationFailed: with all problems
    """
    resolver = _Resolver(template, scope)
    handlers: dict[str, str] = {}
    for name, resource in list(resolver.resources.items()):
        resolver.add_resource(name, resource)
        try:
            handlers[name] = registry.type_of(name, resource.type)
        except exceptions.StackValidationFailed as error:
            place = template.format.path('resources', name, 'type')
            resolver.problems += [(place, problem) for problem in error.problems]
    for key, output in template.outputs.items():
        resolver.add_output(key, output)
    if resolver.problems:
        raise exceptions.StackValidationFailed(
            document.located_lines(source, resolver.problems)
        )
    circles = _find_cycles(resolver.requires, template.format)
    if circles:
        raise exceptions.CircularDependency(document.located_lines(source, circles))
    requires = implied_dependencies.add(resolver.resources, handlers, resolver.requires)
    return Resolved(resolver.resources, requires, handlers, tuple(resolver.attributes))


class _Resolver:
    """Resolves the references of resources and outputs; collects problems.

    :ivar resources: the resources with true conditions
    :ivar requires: for each resource, the names of its dependencies
    :ivar attributes: the attributes that get_attr refers to
    """

    def __init__(self, template: Template, scope: Scope) -> None:
        self._template = template
        self._scope = scope
        self.problems: list[_Found] = []
        self.requires: dict[str, tuple[str, ...]] = {}
        self.attributes: list[nodes.Attribute] = []
        self.resources = self._enabled_resources()

    def add_resource(self, name: str, resource: definitions.ResourceDefinition) -> None:
        """Resolve the references of a resource."""
        made = resource.nodes
        if made.external_id is not None:
            self.resources[name] = self._with_external_id(
                name, resource, made.external_id
            )
        named = self._referenced_names(
            (made.properties, made.metadata, made.update_policy)
        )
        # An omitted resource is no dependency.
        others = {other for other in resource.depends_on if other in self.resources}
        self.requires[name] = tuple(sorted(named | others))

    def add_output(self, key: str, output: definitions.OutputDefinition) -> None:
        """Resolve the references of an output, if its condition is true."""
        path = self._template.format.path('outputs', key, 'condition')
        try:
            present = nodes.holds(
                output.condition_node, self._scope.for_evaluation(), path
            )
        except nodes.EvaluationFailed as error:
            self.problems.append((error.path, error.text))
            return
        if present:
            self._referenced_names((output.node,))

    def _enabled_resources(self) -> dict[str, definitions.ResourceDefinition]:
        """Return the resources whose conditions are true."""
        found: dict[str, definitions.ResourceDefinition] = {}
        for name, resource in self._template.resources.items():
            path = self._template.format.path('resources', name, 'condition')
            try:
                if nodes.holds(
                    resource.nodes.condition, self._scope.for_evaluation(), path
                ):
                    found[name] = resource
            except nodes.EvaluationFailed as error:
                self.problems.append((error.path, error.text))
                found[name] = resource
        return found

    def _with_external_id(
        self, name: str, resource: definitions.ResourceDefinition, node: nodes.ValueNode
    ) -> definitions.ResourceDefinition:
        """Return a resource with its external id; an empty id is none."""
        path = self._template.format.path('resources', name, 'external_id')
        named = nodes.ReferencedNames()
        try:
            node.add_references(self._scope.for_evaluation(), named)
            value = node.value(self._scope.for_evaluation())
        except nodes.EvaluationFailed as error:
            self.problems.append((error.path, error.text))
            return resource
        if named.resources:
            text = 'it cannot depend on other resources of the template'
            self.problems.append((path, text))
        elif value is not None and (
            isinstance(value, bool) or not isinstance(value, str | int)
        ):
            self.problems.append((path, f'this is {kind(value)}; it must be text'))
        else:
            known = None if value in (None, '') else str(value)
            return dataclasses.replace(resource, external_id=known)
        return resource

    def _referenced_names(self, parts: tuple[nodes.ValueNode, ...]) -> set[str]:
        """Return the names of the resources that parts refer to."""
        named = nodes.ReferencedNames()
        for node in parts:
            try:
                node.add_references(self._scope.for_evaluation(), named)
            except nodes.EvaluationFailed as error:
                self.problems.append((error.path, error.text))
        found: set[str] = set()
        for one in named.resources:
            if one.name in self.resources:
                found.add(one.name)
            elif one.name in self._template.resources:
                text = f'the condition of resource {one.shown} does not hold'
                self.problems.append((one.path, f'{text}; use if around this'))
            else:
                text = f'there is no resource {one.shown}; name one of the template'
                self.problems.append((one.path, text))
        for one in named.files:
            if self._scope.files.get(one.name) is None:
                text = 'No content found in the "files" section for get_file path: '
                text += f'{one.shown}; send its text in files'
                self.problems.append((one.path, text))
        self.attributes += named.attributes
        return found


def _find_cycles(
    requires: Mapping[str, tuple[str, ...]], written: Format
) -> list[_Found]:
    names = list(requires)
    index = {name: at for at, name in enumerate(names)}
    parents = [[index[other] for other in requires[name]] for name in names]
    found: list[_Found] = []
    for cycle in graph.find_cycles(parents):
        shown = [names[at] for at in [*reversed(cycle), cycle[-1]]]
        if len(shown) > _NAMED:
            shown = [*shown[: _NAMED - 1], '...', shown[-1]]
        text = f'Circular Dependency Found: {" needs ".join(shown)}; '
        place = written.path('resources', names[cycle[0]])
        found.append((place, text + 'remove one of these dependencies'))
    return found
