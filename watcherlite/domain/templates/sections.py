"""The sections of a template; problems are reported with their paths."""

from collections.abc import Collection, Mapping
from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings, check_keys, quote
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates import definitions, versions
from watcherlite.domain.templates.compiler import Compiler
from watcherlite.domain.templates.nodes import ValueNode

KEYS = (
    versions.KEY,
    'description',
    'parameter_groups',
    'parameters',
    'conditions',
    'resources',
    'outputs',
)
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
    'external_id',
)
#: Maximum number of outputs; all are evaluated when a stack is shown.
MAX_OUTPUTS = 1000
_OUTPUT_KEYS = ('value', 'description', 'condition')
_GROUP_KEYS = ('label', 'description', 'parameters')
_POLICIES = {'delete': definitions.DELETE, 'retain': definitions.RETAIN}


def version(findings: Findings, template: Mapping[str, Any]) -> str:
    """Return the date of the version; that of the newest if it is invalid."""
    known = ', '.join(v.alias or v.date for v in versions.VERSIONS)
    for key in versions.FOREIGN:
        if key in template:
            text = f'this format is not supported; write {versions.KEY}: one of {known}'
            findings.add((key,), text)
            return versions.NEWEST
    if versions.KEY not in template:
        text = 'Template version was not provided; write '
        findings.add((), f'{text}{versions.KEY}: {versions.NEWEST}')
        return versions.NEWEST
    written = template[versions.KEY]
    date = versions.date_of(written)
    if date is None:
        findings.add(
            (versions.KEY,),
            f'The template version is invalid: "{versions.KEY}: '
            f'{written if isinstance(written, str) else kind(written)}". '
            f'"{versions.KEY}" should be one of: {known}',
        )
    return date or versions.NEWEST


def section(
    findings: Findings, template: Mapping[str, Any], key: str
) -> dict[str, Any]:
    """Return a section as a mapping, empty for null."""
    return _mapping(findings, (key,), template.get(key))


def names_of(template: Mapping[str, Any], key: str) -> Collection[str] | None:
    """Return the names in a section; None: unknown."""
    written = template.get(key)
    if written is None:
        return ()
    return list(written) if isinstance(written, dict) else None


def parameters(
    findings: Findings, written: Mapping[str, Any]
) -> dict[str, definitions.ParameterDefinition]:
    """Return the declared parameters."""
    return {
        name: definitions.read(findings, ('parameters', name), name, value)
        for name, value in written.items()
    }


def groups(
    findings: Findings, written: Any, known: Collection[str]
) -> tuple[dict[str, Any], ...]:
    """Return the section `parameter_groups` unchanged."""
    place: Path = ('parameter_groups',)
    if written is None:
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
    findings: Findings, compiler: Compiler, written: Mapping[str, Any]
) -> tuple[dict[str, ValueNode], dict[str, tuple[str, ...]]]:
    """Return the conditions, and the conditions that each refers to."""
    nodes: dict[str, ValueNode] = {}
    needs: dict[str, tuple[str, ...]] = {}
    for name, value in written.items():
        nodes[name], needs[name] = compiler.definition(value, ('conditions', name))
    return nodes, needs


def resources(
    findings: Findings, compiler: Compiler, written: Mapping[str, Any], date: str
) -> dict[str, definitions.ResourceDefinition]:
    """Return the declared resources."""
    found: dict[str, definitions.ResourceDefinition] = {}
    known = frozenset(written)
    for name, value in written.items():
        path = ('resources', name)
        if not name or '/' in name or len(name) > NAME_LENGTH:
            text = f'the name of a resource has 1 to {NAME_LENGTH} characters and no /'
            findings.add(path, f'{text}; rename it')
        if not isinstance(value, dict):
            text = f'this is {kind(value)}; it must be a mapping like '
            findings.add(path, text + '{type: OS::Heat::None}')
            continue
        found[name] = _resource(findings, compiler, path, value, known, date)
    return found


def _resource(
    findings: Findings,
    compiler: Compiler,
    path: Path,
    written: Mapping[str, Any],
    known: frozenset[str],
    date: str,
) -> definitions.ResourceDefinition:
    _check_keys(findings, path, written, _RESOURCE_KEYS, date)
    parts: dict[str, dict[str, Any]] = {}
    nodes: dict[str, ValueNode] = {}
    for key in ('properties', 'metadata', 'update_policy'):
        parts[key] = _mapping(findings, (*path, key), written.get(key))
        nodes[key] = compiler.value(parts[key], (*path, key))
    external_id, external_node = None, None
    if isinstance(written.get('external_id'), dict):
        place = (*path, 'external_id')
        external_node = compiler.value(written['external_id'], place)
    else:
        external_id = definitions.text_at(findings, path, written, 'external_id')
    return definitions.ResourceDefinition(
        str(path[-1]),
        _type(findings, path, written),
        depends_on=_depends_on(
            findings, (*path, 'depends_on'), written.get('depends_on'), known
        ),
        deletion_policy=_policy(
            findings, (*path, 'deletion_policy'), written.get('deletion_policy')
        ),
        condition=written.get('condition'),
        description=definitions.text_at(findings, path, written, 'description') or '',
        external_id=external_id or None,
        nodes=definitions.ResourceNodes(
            condition=_condition(compiler, path, written),
            external_id=external_node,
            **nodes,
        ),
        **parts,
    )


def outputs(
    findings: Findings, compiler: Compiler, written: Mapping[str, Any], date: str
) -> dict[str, definitions.OutputDefinition]:
    """Return the declared outputs."""
    found: dict[str, definitions.OutputDefinition] = {}
    if len(written) > MAX_OUTPUTS:
        text = f'there are {len(written)} outputs; a template has at most {MAX_OUTPUTS}'
        findings.add(('outputs',), text)
        return found
    for key, value in written.items():
        path = ('outputs', key)
        if not isinstance(value, dict) or 'value' not in value:
            what = 'value is missing' if isinstance(value, dict) else kind(value)
            findings.add(path, f'this is no output ({what}); write {{value: ...}}')
            continue
        _check_keys(findings, path, value, _OUTPUT_KEYS, date)
        found[key] = definitions.OutputDefinition(
            key,
            value['value'],
            definitions.text_at(findings, path, value, 'description') or '',
            value.get('condition'),
            node=compiler.value(value['value'], (*path, 'value')),
            condition_node=_condition(compiler, path, value),
        )
    return found


def _check_keys(
    findings: Findings,
    path: Path,
    written: Mapping[str, Any],
    known: tuple[str, ...],
    date: str,
) -> None:
    check_keys(findings, path, written, known)
    if date < versions.CONDITIONS:
        for key in ('condition', 'external_id'):
            if key in written:
                text = f'this is for {versions.KEY} {versions.CONDITIONS} and later'
                findings.add((*path, key), f'{text}; this one is {date}')


def _condition(
    compiler: Compiler, path: Path, written: Mapping[str, Any]
) -> ValueNode | None:
    value = written.get('condition')
    return None if value is None else compiler.condition(value, (*path, 'condition'))


def _type(findings: Findings, path: Path, written: Mapping[str, Any]) -> str:
    value = written.get('type')
    if isinstance(value, str) and value:
        return value
    text = f'this is {kind(value)}; write the type of the resource'
    findings.add((*path, 'type'), f'{text}, like OS::Heat::None')
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
