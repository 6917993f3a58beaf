"""The resources of a stack whose conditions are true, and their dependencies."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import graph
from watcherlite.domain.json_values import kind
from watcherlite.domain.templates import document
from watcherlite.domain.templates.definitions import ResourceDefinition
from watcherlite.domain.templates.environment import Registry
from watcherlite.domain.templates.nodes import (
    Attribute,
    EvaluationFailed,
    ReferencedNames,
    ValueNode,
    holds,
)
from watcherlite.domain.templates.scope import Scope
from watcherlite.domain.templates.template import Template
from watcherlite.domain.yaml_values import Path

_Found = tuple[Path, str]
#: Maximum number of resources in a message about a circular dependency.
_NAMED = 50


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """The resources of a stack; see `blueprint.Blueprint`."""

    resources: Mapping[str, ResourceDefinition]
    requires: Mapping[str, tuple[str, ...]]
    handlers: Mapping[str, str]
    attributes: tuple[Attribute, ...]


def find(
    template: Template, source: Mapping[str, Any], scope: Scope, registry: Registry
) -> Made:
    """Return the resources of a template in a scope, with their dependencies.

    The cost is that of reading the template.

    :param source: the document of the template, for the places of problems
    :raises CircularDependency: this is the only problem
    :raises StackValidationFailed: with all problems
    """
    problems: list[_Found] = []
    resources = _present(template, scope, problems)
    requires: dict[str, tuple[str, ...]] = {}
    handlers: dict[str, str] = {}
    attributes: list[Attribute] = []
    for name, resource in list(resources.items()):
        nodes = resource.nodes
        if nodes.external_id is not None:
            resources[name] = _external(
                name, resource, nodes.external_id, scope, problems
            )
        parts = (nodes.properties, nodes.metadata, nodes.update_policy)
        named, used = _named(template, resources, parts, scope, problems)
        attributes += used
        # A resource that is left out is not a dependency.
        others = {other for other in resource.depends_on if other in resources}
        requires[name] = tuple(sorted(named | others))
        try:
            handlers[name] = registry.type_of(name, resource.type)
        except exceptions.StackValidationFailed as error:
            place = ('resources', name, 'type')
            problems += [(place, problem) for problem in error.problems]
    for key, output in template.outputs.items():
        try:
            present = holds(output.condition_node, scope.again(), ('outputs', key))
        except EvaluationFailed as error:
            problems.append((error.path, error.text))
            continue
        if present:
            _, used = _named(template, resources, (output.node,), scope, problems)
            attributes += used
    if problems:
        raise exceptions.StackValidationFailed(document.placed(source, problems))
    circles = _circles(requires)
    if circles:
        raise exceptions.CircularDependency(document.placed(source, circles))
    return Made(resources, requires, handlers, tuple(attributes))


def _present(
    template: Template, scope: Scope, problems: list[_Found]
) -> dict[str, ResourceDefinition]:
    """Return the resources whose conditions are true."""
    found: dict[str, ResourceDefinition] = {}
    for name, resource in template.resources.items():
        path = ('resources', name)
        try:
            if holds(resource.nodes.condition, scope.again(), path):
                found[name] = resource
        except EvaluationFailed as error:
            problems.append((error.path, error.text))
            found[name] = resource
    return found


def _external(
    name: str,
    resource: ResourceDefinition,
    node: ValueNode,
    scope: Scope,
    problems: list[_Found],
) -> ResourceDefinition:
    """Return a resource with its external id; an empty id counts as none."""
    path = ('resources', name, 'external_id')
    named = ReferencedNames()
    try:
        node.refer(scope.again(), named)
        value = node.value(scope.again())
    except EvaluationFailed as error:
        problems.append((error.path, error.text))
        return resource
    if named.resources:
        problems.append((path, 'it cannot depend on other resources of the template'))
    elif value is not None and (
        isinstance(value, bool) or not isinstance(value, str | int)
    ):
        problems.append((path, f'this is {kind(value)}; it must be text'))
    else:
        known = None if value in (None, '') else str(value)
        return dataclasses.replace(resource, external_id=known)
    return resource


def _named(
    template: Template,
    resources: Mapping[str, ResourceDefinition],
    nodes: tuple[ValueNode, ...],
    scope: Scope,
    problems: list[_Found],
) -> tuple[set[str], list[Attribute]]:
    """Return the names of the resources, and the attributes, that parts refer to."""
    named = ReferencedNames()
    for node in nodes:
        try:
            node.refer(scope.again(), named)
        except EvaluationFailed as error:
            problems.append((error.path, error.text))
    found: set[str] = set()
    for one in named.resources:
        if one.name in resources:
            found.add(one.name)
        elif one.name in template.resources:
            text = f'the condition of resource {one.shown} does not hold'
            problems.append((one.path, f'{text}; use if around this'))
        else:
            text = f'there is no resource {one.shown}; name one of the template'
            problems.append((one.path, text))
    for one in named.files:
        if scope.files.get(one.name) is None:
            text = 'No content found in the "files" section for get_file path: '
            text += f'{one.shown}; send its text in files'
            problems.append((one.path, text))
    return found, named.attributes


def _circles(requires: Mapping[str, tuple[str, ...]]) -> list[_Found]:
    names = list(requires)
    index = {name: at for at, name in enumerate(names)}
    parents = [[index[other] for other in requires[name]] for name in names]
    found: list[_Found] = []
    for cycle in graph.find_cycles(parents):
        told = [names[at] for at in [*reversed(cycle), cycle[-1]]]
        if len(told) > _NAMED:
            told = [*told[: _NAMED - 1], '...', told[-1]]
        text = f'Circular Dependency Found: {" needs ".join(told)}; '
        place = ('resources', names[cycle[0]])
        found.append((place, text + 'remove one of these dependencies'))
    return found
