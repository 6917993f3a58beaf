"""Templates: validated declarations, ready for evaluation."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import graph
from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings, check_keys
from watcherlite.domain.templates import definitions, document, sections, versions
from watcherlite.domain.templates.compiler import Compiler
from watcherlite.domain.templates.nodes import ValueNode


@dataclasses.dataclass(frozen=True, slots=True)
class Template:
    """A template that is valid by itself.

    Thread-safe.

    :param version: its date
    :param groups: the section `parameter_groups`
    :param conditions: each after those that it refers to
    """

    version: str
    description: str
    groups: tuple[Mapping[str, Any], ...]
    parameters: Mapping[str, definitions.ParameterDefinition]
    conditions: Mapping[str, ValueNode]
    resources: Mapping[str, definitions.ResourceDefinition]
    outputs: Mapping[str, definitions.OutputDefinition]

    @property
    def hidden(self) -> frozenset[str]:
        """Return the names of the hidden parameters."""
        return frozenset(name for name, p in self.parameters.items() if p.hidden)


def load(mapping: Mapping[str, Any]) -> Template:
    """Return the template in a parsed document.

    :raises TemplateInvalid: with all problems, and lines if it is a `Document`
    """
    if isinstance(mapping, Mapping) and not isinstance(mapping, dict):
        mapping = dict(mapping)
    if not isinstance(mapping, dict):
        raise exceptions.TemplateInvalid(
            f'the template is {kind(mapping)}; it must be a mapping, like '
            f'{{{versions.KEY}: {versions.NEWEST}, resources: {{}}}}'
        )
    impossible = list(json_values.problems(mapping))
    if impossible:
        raise exceptions.TemplateInvalid(document.located_lines(mapping, impossible))
    findings = Findings()
    found = _read(findings, mapping)
    if findings.problems:
        raise exceptions.TemplateInvalid(
            document.located_lines(mapping, findings.problems)
        )
    return found


def _read(findings: Findings, mapping: Mapping[str, Any]) -> Template:
    date = sections.version(findings, mapping)
    own = {key: v for key, v in mapping.items() if key not in versions.FOREIGN}
    check_keys(findings, (), own, sections.KEYS)
    if date < versions.CONDITIONS and 'conditions' in mapping:
        text = f'this is for {versions.KEY} {versions.CONDITIONS} and later'
        findings.add(('conditions',), f'{text}; this one is {date}')
    compiler = Compiler(
        findings,
        date,
        sections.names_of(mapping, 'parameters'),
        sections.names_of(mapping, 'resources'),
        sections.names_of(mapping, 'conditions'),
    )
    parameters = sections.parameters(
        findings, sections.section(findings, mapping, 'parameters')
    )
    description = mapping.get('description')
    if isinstance(description, (dict, list)):
        findings.add(('description',), f'this is {kind(description)}; it must be text')
    conditions, needs = sections.conditions(
        findings, compiler, sections.section(findings, mapping, 'conditions')
    )
    return Template(
        version=date,
        description='' if description is None else str(description),
        groups=sections.groups(findings, mapping.get('parameter_groups'), parameters),
        parameters=parameters,
        conditions=_in_order(findings, conditions, needs),
        resources=sections.resources(
            findings, compiler, sections.section(findings, mapping, 'resources'), date
        ),
        outputs=sections.outputs(
            findings, compiler, sections.section(findings, mapping, 'outputs'), date
        ),
    )


def _in_order(
    findings: Findings,
    nodes: dict[str, ValueNode],
    needs: Mapping[str, tuple[str, ...]],
) -> dict[str, ValueNode]:
    """Return conditions, each after those that it refers to."""
    names = list(nodes)
    index = {name: at for at, name in enumerate(names)}
    parents = [[index[n] for n in needs[name] if n in index] for name in names]
    cycles = graph.find_cycles(parents)
    for cycle in cycles:
        path = ' needs '.join(names[at] for at in [*reversed(cycle), cycle[-1]])
        text = f'conditions refer to each other in a cycle: {path}; break it'
        findings.add(('conditions', names[cycle[0]]), text)
    if cycles:
        return nodes
    return {names[at]: nodes[names[at]] for at in graph.order(parents)}
