"""What a definition makes of one stack: every resource as it is to be."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.json_values import kind
from watcherlite.domain.stacks import Definition
from watcherlite.domain.templates import dependencies, document
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates import parameters as parameter_values
from watcherlite.domain.templates.definitions import ResourceDefinition
from watcherlite.domain.templates.nodes import Attribute, Failed, Node, holds, truth
from watcherlite.domain.templates.registry import Registry
from watcherlite.domain.templates.scope import OMITTED, NothingMade, References, Scope
from watcherlite.domain.templates.template import Template, load
from watcherlite.domain.yaml_values import Path

__all__ = ['Blueprint', 'NothingMade', 'OutputValue', 'References']


@dataclasses.dataclass(frozen=True, slots=True)
class OutputValue:
    """One output of a stack.

    :param error: why there is no value
    """

    key: str
    value: Any
    description: str = ''
    error: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Blueprint:
    """What a definition makes of one stack.

    Any number of threads may use it at once; what its methods return is not shared.

    :param parameters: their values, of their types, with the pseudo parameters
    :param hidden: names of the parameters whose values must never be shown
    :param conditions: which of the named ones hold
    :param resources: those that are to be, in the order of the template
    :param requires: for each of these, the names of those that it depends on, sorted
    :param handlers: for each of these, what its type stands for
    :param attributes: those of these that get_attr asks for
    """

    definition: Definition
    template: Template
    parameters: Mapping[str, Any]
    hidden: frozenset[str]
    conditions: Mapping[str, bool]
    resources: Mapping[str, ResourceDefinition]
    requires: Mapping[str, tuple[str, ...]]
    handlers: Mapping[str, str]
    attributes: tuple[Attribute, ...]

    @classmethod
    def of(
        cls, definition: Definition, *, name: str, uuid: str | None, tenant: str
    ) -> 'Blueprint':
        """Return what a definition makes of a stack.

        :param uuid: of the stack; None: it has none yet
        :raises StackValidationFailed: or one of its kinds, with all problems
        """
        template = load(definition.template)
        environment = environments.load(definition.environment)
        pseudo = {
            'OS::stack_name': name,
            'OS::stack_id': uuid,
            'OS::project_id': tenant,
        }
        given = parameter_values.check_mapping('parameters', definition.parameters)
        parameters = parameter_values.values(template, given, environment, pseudo)
        scope = Scope(parameters, definition.files)
        conditions = _conditions(template, definition.template, scope)
        encrypted = environment.get(environments.ENCRYPTED) or ()
        made = dependencies.find(
            template,
            definition.template,
            Scope(parameters, definition.files, conditions),
            Registry(environment),
        )
        return cls(
            definition,
            template,
            parameters,
            template.hidden | {n for n in encrypted if n in template.parameters},
            conditions,
            made.resources,
            made.requires,
            made.handlers,
            made.attributes,
        )

    def handler(self, name: str) -> str:
        """Return the name of the handler, or of the template, of a resource."""
        return self.handlers[name]

    def properties(self, name: str, references: References) -> dict[str, Any]:
        """Return the properties of a resource, resolved.

        :raises StackValidationFailed: a function cannot work on what it was given
        """
        node = self.resources[name].nodes.properties
        return self._mapping(node, references, ('resources', name, 'properties'))

    def metadata(self, name: str, references: References) -> dict[str, Any]:
        """Return the metadata of a resource, resolved."""
        node = self.resources[name].nodes.metadata
        return self._mapping(node, references, ('resources', name, 'metadata'))

    def update_policy(self, name: str, references: References) -> dict[str, Any]:
        """Return the update policy of a resource, resolved."""
        node = self.resources[name].nodes.update_policy
        return self._mapping(node, references, ('resources', name, 'update_policy'))

    def outputs(self, references: References) -> list[OutputValue]:
        """Return the outputs whose conditions hold; one that fails says why."""
        found: list[OutputValue] = []
        for key, output in self.template.outputs.items():
            path = ('outputs', key)
            value, error = None, None
            try:
                if not holds(output.condition_node, self._scope(references), path):
                    continue
                value = output.node.value(self._scope(references))
                value = None if value is OMITTED else value
            except exceptions.Invalid as problem:
                error = str(problem)
            found.append(OutputValue(key, value, output.description, error))
        return found

    def shown_parameters(self) -> dict[str, str]:
        """Return the parameters as texts, for users; hidden ones are masked."""
        return parameter_values.as_shown(self.template, self.parameters, self.hidden)

    def _scope(self, references: References) -> Scope:
        return Scope(
            self.parameters, self.definition.files, self.conditions, references
        )

    def _mapping(
        self, node: Node, references: References, path: Path
    ) -> dict[str, Any]:
        value = node.value(self._scope(references))
        if isinstance(value, dict):
            return value
        if value is None or value is OMITTED:
            return {}
        raise Failed(path, f'this becomes {kind(value)}; it must become a mapping')


def _conditions(
    template: Template, source: Mapping[str, Any], scope: Scope
) -> dict[str, bool]:
    """Return which of the named conditions hold; raises with all problems."""
    found: dict[str, bool] = {}
    problems: list[tuple[Path, str]] = []
    scope.conditions = found
    for name, node in template.conditions.items():
        try:
            found[name] = truth(node, scope.again(), ('conditions', name))
        except Failed as error:
            problems.append((error.path, error.text))
            # Those that refer to it are not to be told as well.
            found[name] = False
    if problems:
        raise exceptions.StackValidationFailed(document.placed(source, problems))
    return found
