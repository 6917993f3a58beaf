"""The blueprint of a stack: its definition, evaluated for this stack."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.stacks import Definition
from watcherlite.domain.templates import dependencies, document, nodes
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates import facade as facades
from watcherlite.domain.templates import parameters as parameter_values
from watcherlite.domain.templates.definitions import ResourceDefinition
from watcherlite.domain.templates.environment import Registry
from watcherlite.domain.templates.resource_rules import ResourceRules
from watcherlite.domain.templates.scope import (
    MAX_SHOWN,
    OMITTED,
    EvaluationBudget,
    NoReferences,
    References,
    Scope,
)
from watcherlite.domain.templates.template import Template, load

__all__ = ['Blueprint', 'NoReferences', 'OutputValue', 'References']


@dataclasses.dataclass(frozen=True, slots=True)
class OutputValue:
    """An output of a stack.

    :param error: the reason why it has no value
    """

    key: str
    value: Any
    description: str = ''
    error: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Blueprint:
    """The definition of a stack, evaluated for this stack.

    Thread-safe; the results of its methods are not shared.

    :param parameters: the converted values, with the pseudo parameters
    :param hidden: names of the parameters whose values must never be shown
    :param conditions: the values of the named conditions
    :param resources: the resources with true conditions, in the order of the template
    :param requires: for each resource, the names of its dependencies, sorted
    :param handlers: for each resource, the name of its handler or template
    :param attributes: for each resource, the attributes that get_attr refers to
    :param rules: the hooks and restricted actions of the resources
    :param facade: the parts of the resource that the stack is; None: it is no resource,
        or its template does not use them
    :param budget: the budget of a request; None: no limit, for actions on single
        resources. A blueprint with a budget is not thread-safe.
    """

    definition: Definition
    template: Template
    parameters: Mapping[str, Any]
    hidden: frozenset[str]
    conditions: Mapping[str, bool]
    resources: Mapping[str, ResourceDefinition]
    requires: Mapping[str, tuple[str, ...]]
    handlers: Mapping[str, str]
    attributes: tuple[nodes.Attribute, ...]
    rules: ResourceRules
    facade: facades.Facade | None = None
    budget: EvaluationBudget | None = None

    @classmethod
    def of(
        cls,
        definition: Definition,
        *,
        name: str,
        uuid: str | None,
        tenant: str,
        budget: EvaluationBudget | None = None,
    ) -> 'Blueprint':
        """Return the blueprint of a stack by a definition.

        :param uuid: of the stack; None: it is not stored
        :param budget: of the request
        :raises StackValidationFailed: or a subclass, with all problems
        :raises RequestLimitExceeded: the evaluation exceeds its budget
        """
        spent = EvaluationBudget() if budget is None else budget
        template = load(definition.template)
        written, facade = facades.separate(definition.environment)
        environment = environments.load(written)
        pseudo = template.format.pseudo_values(name=name, uuid=uuid, tenant=tenant)
        given = parameter_values.check_mapping('parameters', definition.parameters)
        parameters = parameter_values.values(template, given, environment, pseudo)
        scope = Scope(parameters, definition.files, budget=spent, facade=facade)
        conditions = _conditions(template, definition.template, scope)
        encrypted = environment.get(environments.ENCRYPTED) or ()
        resolved = dependencies.resolve(
            template,
            definition.template,
            dataclasses.replace(scope, conditions=conditions),
            Registry(environment),
        )
        return cls(
            definition,
            template,
            parameters,
            template.hidden | {n for n in encrypted if n in template.parameters},
            conditions,
            resolved.resources,
            resolved.requires,
            resolved.handlers,
            resolved.attributes,
            ResourceRules(environment),
            facade,
            budget,
        )

    def properties(self, name: str, references: References) -> dict[str, Any]:
        """Return the properties of a resource, resolved.

        :raises StackValidationFailed: a function has an invalid argument
        """
        node = self.resources[name].nodes.properties
        return self._mapping(node, references, name, 'properties')

    def metadata(self, name: str, references: References) -> dict[str, Any]:
        """Return the metadata of a resource, resolved."""
        node = self.resources[name].nodes.metadata
        return self._mapping(node, references, name, 'metadata')

    def update_policy(self, name: str, references: References) -> dict[str, Any]:
        """Return the update policy of a resource, resolved."""
        node = self.resources[name].nodes.update_policy
        return self._mapping(node, references, name, 'update_policy')

    def facade_of(self, name: str, references: References) -> dict[str, Any]:
        """Return the facade of the stack that a resource is."""
        return {
            facades.METADATA: self.metadata(name, references),
            facades.DELETION_POLICY: self.resources[name].deletion_policy,
            facades.UPDATE_POLICY: self.update_policy(name, references),
        }

    def outputs(
        self, references: References, desired: str | None = None, most: int = MAX_SHOWN
    ) -> list[OutputValue]:
        """Return the outputs whose conditions are true; a failed one has an error.

        :param desired: the key of the only output to evaluate; None: all
        :param most: maximum total size in bytes of JSON; later outputs have no value
        """
        found: list[OutputValue] = []
        spent = EvaluationBudget()
        shown = EvaluationBudget(
            most,
            'The outputs of the stack have more than {} bytes together; request a '
            'single output, or reduce their size.',
        )
        exhausted: str | None = None
        for key, output in self.template.outputs.items():
            path = self.template.format.path('outputs', key, 'condition')
            value, error = None, exhausted
            if desired not in (None, key):
                continue
            try:
                scope = self._scope(references, spent)
                if not nodes.holds(output.condition_node, scope, path):
                    continue
                if exhausted is None:
                    value = output.node.value(self._scope(references, spent))
                    value = None if value is OMITTED else value
                    shown.spend(shown_size(value))
            except exceptions.RequestLimitExceeded as problem:
                # The budget is used up: do not evaluate the others.
                value, error = None, str(problem)
                exhausted = error
            except exceptions.Invalid as problem:
                error = str(problem)
            found.append(OutputValue(key, value, output.description, error))
        return found

    def shown_parameters(self) -> dict[str, str]:
        """Return the parameters as texts for users; hidden ones are masked."""
        return parameter_values.display_values(
            self.template, self.parameters, self.hidden
        )

    def _scope(
        self, references: References, budget: EvaluationBudget | None = None
    ) -> Scope:
        return Scope(
            self.parameters,
            self.definition.files,
            self.conditions,
            references,
            budget=self.budget if budget is None else budget,
            facade=self.facade,
        )

    def _mapping(
        self, node: nodes.ValueNode, references: References, name: str, part: str
    ) -> dict[str, Any]:
        value = node.value(self._scope(references))
        if isinstance(value, dict):
            return value
        if value is None or value is OMITTED:
            return {}
        path = self.template.format.path('resources', name, part)
        raise nodes.EvaluationFailed(
            path, f'this becomes {kind(value)}; it must become a mapping'
        )


def shown_size(value: Any) -> int:
    """Return the size of a value in a response, in bytes."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return len(text.encode(errors='replace'))


def _conditions(
    template: Template, source: Mapping[str, Any], scope: Scope
) -> dict[str, bool]:
    """Return the values of the named conditions; raises with all problems."""
    found: dict[str, bool] = {}
    problems: list[tuple[Path, str]] = []
    scope.conditions = found
    for name, node in template.conditions.items():
        try:
            found[name] = nodes.evaluate_condition(
                node, scope.for_evaluation(), template.format.path('conditions', name)
            )
        except nodes.EvaluationFailed as error:
            problems.append((error.path, error.text))
            # Do not report the dependent conditions as well.
            found[name] = False
    if problems:
        raise exceptions.StackValidationFailed(document.located_lines(source, problems))
    return found
