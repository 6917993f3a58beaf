"""Templates: validated declarations, ready for evaluation."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import graph
from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings
from watcherlite.domain.templates import definitions, document, sections, versions
from watcherlite.domain.templates.compiler import Compiler
from watcherlite.domain.templates.formats import Format
from watcherlite.domain.templates.functions import function_tables
from watcherlite.domain.templates.nodes import ValueNode
from watcherlite.domain.templates.versions import Version


@dataclasses.dataclass(frozen=True, slots=True)
class Template:
    """A template that is valid by itself.

    Thread-safe.

    :param groups: the section `parameter_groups`
    :param conditions: each after those that it refers to
    """

    version: Version
    description: str
    groups: tuple[Mapping[str, Any], ...]
    parameters: Mapping[str, definitions.ParameterDefinition]
    conditions: Mapping[str, ValueNode]
    resources: Mapping[str, definitions.ResourceDefinition]
    outputs: Mapping[str, definitions.OutputDefinition]

    @property
    def format(self) -> Format:
        """Return the format of its document."""
        return self.version.format

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
    version = sections.version(findings, mapping)
    language = version.format
    sections.check_sections(findings, mapping, version)
    written = {
        name: sections.section(findings, mapping, language.key(name))
        for name in ('parameters', 'conditions', 'resources', 'outputs')
    }
    compiler = Compiler(
        findings,
        version,
        function_tables.table_of(
            version, sections.mappings(findings, mapping, language)
        ),
        *(
            sections.names_of(mapping, language.key(name))
            for name in ('parameters', 'resources', 'conditions')
        ),
    )
    parameters = sections.parameters(findings, written['parameters'], language)
    conditions, needs = sections.conditions(compiler, written['conditions'], language)
    return Template(
        version=version,
        description=sections.description(findings, mapping, language),
        groups=sections.groups(findings, mapping, parameters, language),
        parameters=parameters,
        conditions=_in_order(findings, conditions, needs, language),
        resources=sections.resources(findings, compiler, written['resources'], version),
        outputs=sections.outputs(findings, compiler, written['outputs'], version),
    )


def _in_order(
    findings: Findings,
    nodes: dict[str, ValueNode],
    needs: Mapping[str, tuple[str, ...]],
    language: Format,
) -> dict[str, ValueNode]:
    """Return conditions, each after those that it refers to."""
    names = list(nodes)
    index = {name: at for at, name in enumerate(names)}
    parents = [[index[n] for n in needs[name] if n in index] for name in names]
    cycles = graph.find_cycles(parents)
    for cycle in cycles:
        path = ' needs '.join(names[at] for at in [*reversed(cycle), cycle[-1]])
        text = f'conditions refer to each other in a cycle: {path}; break it'
        findings.add(language.path('conditions', names[cycle[0]]), text)
    if cycles:
        return nodes
    return {names[at]: nodes[names[at]] for at in graph.order(parents)}
