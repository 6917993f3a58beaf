"""The sections of a template; problems are reported with their paths."""

from collections.abc import Collection, Mapping
from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings, check_keys, quote
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates import cfn_sections, definitions, versions
from watcherlite.domain.templates.compiler import Compiler
from watcherlite.domain.templates.formats import HOT, Format
from watcherlite.domain.templates.functions import cfn_functions
from watcherlite.domain.templates.nodes import ValueNode
from watcherlite.domain.templates.versions import Version

_GROUPS = 'parameter_groups'
_SECTIONS = ('description', 'parameters', 'conditions', 'resources', 'outputs')
#: Maximum length of the name of a resource in the database.
NAME_LENGTH = 255
_RESOURCE_KEYS = (
    'type',
    'properties',
    'metadata',
    'depends_on',
    'deletion_policy',
    'update_policy',
    'condition',
    'description',
)
#: Maximum number of outputs; all are evaluated when a stack is shown.
MAX_OUTPUTS = 1000
_HOT_RESOURCE_KEYS = ('external_id',)
_OUTPUT_KEYS = ('value', 'description', 'condition')
_GROUP_KEYS = ('label', 'description', 'parameters')
_POLICIES = {'delete': definitions.DELETE, 'retain': definitions.RETAIN}


def version(findings: Findings, template: Mapping[str, Any]) -> Version:
    """Return the version; the newest one of the format if it is invalid."""
    keys = [key for key in versions.KEYS if key in template]
    if not keys:
        text = 'Template version was not provided; write '
        findings.add((), f'{text}{versions.KEY}: {versions.NEWEST}')
        return versions.LATEST
    if len(keys) > 1:
        text = f'Ambiguous versions ({", ".join(keys)}); write only one of these keys'
        findings.add((keys[1],), text)
    key, written = keys[0], template[keys[0]]
    found = versions.find(key, written)
    if found is None:
        known = versions.of_key(key)
        named = ', '.join(v.alias or v.date for v in known)
        findings.add(
            (key,),
            f'The template version is invalid: "{key}: '
            f'{written if isinstance(written, str) else kind(written)}". '
            f'"{key}" should be {"one of: " if known[1:] else ""}{named}',
        )
        found = known[-1]
    return found


def check_sections(
    findings: Findings, template: Mapping[str, Any], version: Version
) -> None:
    """Report unknown sections."""
    own = _GROUPS if version.format is HOT else 'mappings'
    known = (version.key, *map(version.format.key, (*_SECTIONS, own)))
    own_keys = {k: v for k, v in template.items() if k not in versions.KEYS}
    check_keys(findings, (), own_keys, known)
    conditions = version.format.key('conditions')
    if conditions in template:
        _check_conditions(findings, (conditions,), version)


def _check_conditions(findings: Findings, path: Path, version: Version) -> None:
    """Report a part of a template whose version has no conditions."""
    if not version.has_conditions:
        findings.add(path, f'this is for {version.conditions_since}')


def section(
    findings: Findings, template: Mapping[str, Any], key: str
) -> dict[str, Any]:
    """Return a section as a mapping, empty for null.

    :param key: in the template
    """
    return _mapping(findings, (key,), template.get(key))


def names_of(template: Mapping[str, Any], key: str) -> Collection[str] | None:
    """Return the names in a section; None: unknown.

    :param key: in the template
    """
    written = template.get(key)
    if written is None:
        return ()
    return list(written) if isinstance(written, dict) else None


def parameters(
    findings: Findings, written: Mapping[str, Any], language: Format
) -> dict[str, definitions.ParameterDefinition]:
    """Return the declared parameters."""
    read = definitions.read if language is HOT else cfn_sections.parameter
    return {
        name: read(findings, language.path('parameters', name), name, value)
        for name, value in written.items()
    }


def description(
    findings: Findings, template: Mapping[str, Any], language: Format
) -> str:
    """Return the description of a template."""
    return (
        definitions.text_at(findings, (), template, language.key('description')) or ''
    )


def mappings(
    findings: Findings, template: Mapping[str, Any], language: Format
) -> cfn_functions.Mappings:
    """Return the mappings of a template; HOT has none."""
    if language is HOT:
        return {}
    key = language.key('mappings')
    return cfn_sections.mappings(findings, section(findings, template, key))


def groups(
    findings: Findings,
    template: Mapping[str, Any],
    known: Collection[str],
    language: Format,
) -> tuple[dict[str, Any], ...]:
    """Return the section `parameter_groups`, which only HOT has, unchanged."""
    place: Path = (_GROUPS,)
    written = template.get(_GROUPS)
    if written is None or language is not HOT:
        return ()
    if not isinstance(written, list):
        findings.add(place, f'this is {kind(written)}; it must be a list of groups')
        return ()
    seen: set[str] = set()
    for at, group in enumerate(written):
        path = (*place, at)
        if not isinstance(group, dict):
            findings.add(path, f'this is {kind(group)}; it must be a mapping')
            continue
        check_keys(findings, path, group, _GROUP_KEYS)
        members = group.get('parameters')
        if not isinstance(members, list):
            text = f'this is {kind(members)}; it must be a list of names of parameters'
            findings.add((*path, 'parameters'), text)
            continue
        for index, name in enumerate(members):
            where = (*path, 'parameters', index)
            if not isinstance(name, str) or name not in known:
                text = f'there is no parameter {quote(name)}; name one of the template'
                findings.add(where, text)
            elif name in seen:
                text = f'{name} is in a group already; name it once'
                findings.add(where, text)
            else:
                seen.add(name)
    return tuple(group for group in written if isinstance(group, dict))


def conditions(
    compiler: Compiler, written: Mapping[str, Any], language: Format
) -> tuple[dict[str, ValueNode], dict[str, tuple[str, ...]]]:
    """Return the conditions, and the conditions that each refers to."""
    nodes: dict[str, ValueNode] = {}
    needs: dict[str, tuple[str, ...]] = {}
    for name, value in written.items():
        path = language.path('conditions', name)
        nodes[name], needs[name] = compiler.definition(value, path)
    return nodes, needs


def resources(
    findings: Findings, compiler: Compiler, written: Mapping[str, Any], version: Version
) -> dict[str, definitions.ResourceDefinition]:
    """Return the declared resources."""
    found: dict[str, definitions.ResourceDefinition] = {}
    known = frozenset(written)
    for name, value in written.items():
        path = version.format.path('resources', name)
        if not name or '/' in name or len(name) > NAME_LENGTH:
            text = f'the name of a resource has 1 to {NAME_LENGTH} characters and no /'
            findings.add(path, f'{text}; rename it')
        if not isinstance(value, dict):
            text = f'this is {kind(value)}; it must be a mapping like '
            example = f'{{{version.format.key("type")}: OS::Heat::None}}'
            findings.add(path, text + example)
            continue
        reader = _DeclarationReader(findings, compiler, path, value, version)
        found[name] = reader.resource(known)
    return found


def outputs(
    findings: Findings, compiler: Compiler, written: Mapping[str, Any], version: Version
) -> dict[str, definitions.OutputDefinition]:
    """Return the declared outputs."""
    found: dict[str, definitions.OutputDefinition] = {}
    section_key, value_key = map(version.format.key, ('outputs', 'value'))
    if len(written) > MAX_OUTPUTS:
        text = f'there are {len(written)} outputs; a template has at most {MAX_OUTPUTS}'
        findings.add((section_key,), text)
        return found
    for key, value in written.items():
        path = (section_key, key)
        if not isinstance(value, dict) or value_key not in value:
            what = f'{value_key} is missing' if isinstance(value, dict) else kind(value)
            findings.add(
                path, f'this is no output ({what}); write {{{value_key}: ...}}'
            )
            continue
        reader = _DeclarationReader(findings, compiler, path, value, version)
        found[key] = reader.output()
    return found


class _DeclarationReader:
    """Reads the declaration of a resource or an output; problems are reported.

    :param path: of the declaration
    """

    def __init__(
        self,
        findings: Findings,
        compiler: Compiler,
        path: Path,
        written: Mapping[str, Any],
        version: Version,
    ) -> None:
        self._findings = findings
        self._compiler = compiler
        self._path = path
        self._written = written
        self._version = version

    def resource(self, known: frozenset[str]) -> definitions.ResourceDefinition:
        """Return the resource.

        :param known: the names of all resources
        """
        self._check_keys(_RESOURCE_KEYS, _HOT_RESOURCE_KEYS)
        parts: dict[str, dict[str, Any]] = {}
        nodes: dict[str, ValueNode] = {}
        for name in ('properties', 'metadata', 'update_policy'):
            path, value = self._at(name)
            parts[name] = _mapping(self._findings, path, value)
            nodes[name] = self._compiler.value(parts[name], path)
        external_id, external_node = self._external_id()
        return definitions.ResourceDefinition(
            str(self._path[-1]),
            self._type(),
            depends_on=_depends_on(self._findings, *self._at('depends_on'), known),
            deletion_policy=_policy(self._findings, *self._at('deletion_policy')),
            condition=self._at('condition')[1],
            description=self._text('description') or '',
            external_id=external_id or None,
            nodes=definitions.ResourceNodes(
                condition=self._condition(), external_id=external_node, **nodes
            ),
            **parts,
        )

    def output(self) -> definitions.OutputDefinition:
        """Return the output."""
        self._check_keys(_OUTPUT_KEYS)
        path, value = self._at('value')
        return definitions.OutputDefinition(
            str(self._path[-1]),
            value,
            self._text('description') or '',
            self._at('condition')[1],
            node=self._compiler.value(value, path),
            condition_node=self._condition(),
        )

    def _at(self, name: str) -> tuple[Path, Any]:
        """Return the path of a part, and its value or None.

        :param name: in HOT
        """
        key = self._version.format.key(name)
        return (*self._path, key), self._written.get(key)

    def _text(self, name: str) -> str | None:
        key = self._version.format.key(name)
        return definitions.text_at(self._findings, self._path, self._written, key)

    def _check_keys(self, known: tuple[str, ...], in_hot: tuple[str, ...] = ()) -> None:
        """Report unknown keys.

        :param in_hot: more keys, which only HOT has
        """
        language = self._version.format
        own = tuple(map(language.key, known)) + (in_hot if language is HOT else ())
        check_keys(self._findings, self._path, self._written, own)
        for key in (language.key('condition'), *in_hot):
            if key in own and key in self._written:
                _check_conditions(self._findings, (*self._path, key), self._version)

    def _external_id(self) -> tuple[str | None, ValueNode | None]:
        """Return the external id if it is constant, or else its node."""
        path, value = self._at('external_id')
        if self._version.format is not HOT:
            return None, None
        if isinstance(value, dict):
            return None, self._compiler.value(value, path)
        return self._text('external_id'), None

    def _condition(self) -> ValueNode | None:
        path, value = self._at('condition')
        return None if value is None else self._compiler.condition(value, path)

    def _type(self) -> str:
        path, value = self._at('type')
        if isinstance(value, str) and value:
            return value
        text = f'this is {kind(value)}; write the type of the resource'
        self._findings.add(path, f'{text}, like OS::Heat::None')
        return ''


def _depends_on(
    findings: Findings, path: Path, written: Any, known: frozenset[str]
) -> tuple[str, ...]:
    if written is None:
        return ()
    names = written if isinstance(written, list) else [written]
    found: list[str] = []
    for at, name in enumerate(names):
        where = (*path, at) if isinstance(written, list) else path
        if isinstance(name, str) and name in known:
            found.append(name)
            continue
        if not isinstance(name, str):
            text = f'this is {kind(name)}; name a resource, or write a list of names'
        else:
            near = findings.closest_name(name, known)
            hint = f'did you mean {near}?' if near else 'name one of the template'
            text = f'there is no resource {name}; {hint}'
        findings.add(where, text)
    return tuple(dict.fromkeys(found))


def _policy(findings: Findings, path: Path, written: Any) -> str:
    if written is None:
        return definitions.DELETE
    policy = _POLICIES.get(written.lower()) if isinstance(written, str) else None
    if policy is None:
        text = (
            f'{quote(written)} is not one of {definitions.DELETE}, {definitions.RETAIN}'
        )
        findings.add(
            path,
            f'{text}; {definitions.RETAIN} keeps the resource when the stack is '
            'deleted',
        )
    return policy or definitions.DELETE


def _mapping(findings: Findings, path: Path, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        findings.add(path, f'this is {kind(value)}; it must be a mapping')
        return {}
    return value
