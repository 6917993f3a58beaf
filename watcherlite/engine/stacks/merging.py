"""From what a user sends to the definition of a stack, and back for others; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.json_values import kind
from watcherlite.domain.stacks import Definition, NewStack, Resource, Stack
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates.environment import (
    DEFAULTS,
    ENCRYPTED,
    PARAMETERS,
    REGISTRY,
)

#: What of what is there already goes on by itself, see `adopted`.
_ADOPTED = (
    *('resource_id', 'resource_data', 'attributes', 'resources'),
    *('action', 'status', 'status_reason', 'marked'),
)
#: Likewise, of the members of a group: what its template said of each.
DEFINITION = 'definition'


def definition(new: NewStack) -> Definition:
    """Return what a stack is to be by what was sent, and nothing else.

    What is adopted brings a template and an environment of its own, over which
    counts what is sent with it.

    :raises StackValidationFailed: there is no template, or a part is no mapping
    """
    brought = _mapping('adopt_stack_data', new.adopt)
    template = new.template if new.template is not None else brought.get('template')
    if template is None:
        raise exceptions.StackValidationFailed('template: there is none; send one')
    if not isinstance(template, Mapping):
        raise exceptions.StackValidationFailed(
            f'template: this is {kind(template)}; it must be a mapping'
        )
    return Definition(
        template=template,
        environment=_over(
            environments.load(brought.get('environment')),
            environments.load(new.environment),
        ),
        files={**_files(brought.get('files')), **_files(new.files)},
        parameters=_mapping('parameters', new.parameters),
    )


def updated(before: Definition, new: NewStack) -> Definition:
    """Return what a stack is to be after an update.

    With `existing` what is sent goes over what there was, without the parameters
    of which the values are to be forgotten, or that a new template does not have.

    :raises StackValidationFailed: see `definition`
    """
    if not new.existing:
        return definition(new)
    forgotten = set(new.clear_parameters)
    template = before.template
    if new.template is not None:
        template = new.template
        forgotten |= _undeclared(before, template)
    environment = environments.load(new.environment)
    given = environment.get(PARAMETERS) or {}
    kept = dict(before.environment)
    kept[PARAMETERS] = _without(kept.get(PARAMETERS) or {}, forgotten)
    # An environment that is sent now counts more than a parameter of then.
    parameters = _without(before.parameters, {*forgotten, *given})
    changed = definition(
        NewStack(new.name, template, environment, new.files, new.parameters)
    )
    return Definition(
        template=changed.template,
        environment=_over(kept, environment),
        files={**before.files, **changed.files},
        parameters={**parameters, **changed.parameters},
    )


def adopted(new: NewStack) -> dict[str, Any] | None:
    """Return what of the resources of a stack is there already, by name.

    :raises StackValidationFailed: it is not what `exported` returns
    """
    if new.adopt is None:
        return None
    return _present('adopt_stack_data.resources', new.adopt.get('resources'))


def _present(place: str, written: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, given in _mapping(place, written).items():
        inner = f'{place}.{name}'
        known = _mapping(inner, given)
        found[name] = {key: known[key] for key in _ADOPTED if key in known}
        for key in ('resource_data', 'attributes'):
            _mapping(f'{inner}.{key}', known.get(key))
        if 'resources' in known:
            members = _present(f'{inner}.resources', known['resources'])
            place_of = f'{inner}.template'
            template = _mapping(place_of, known.get('template'))
            said = _mapping(f'{place_of}.resources', template.get('resources'))
            for member in members.keys() & said.keys():
                members[member][DEFINITION] = _mapping(
                    f'{place_of}.resources.{member}', said[member]
                )
            found[name]['resources'] = members
    return found


def exported(
    store: Store, stack: Stack, stacks: Sequence[Stack], rows: Sequence[Resource]
) -> dict[str, Any]:
    """Return all of a stack with which another one can adopt its resources.

    :param stacks: those in it, too
    :param rows: the resources of all of these
    """
    inside = {other.id: other for other in stacks}
    members: dict[int, list[Resource]] = {}
    for row in rows:
        if row.superseded_by is None:
            members.setdefault(row.stack_id, []).append(row)

    files = store.get_definition(stack.definition_id).files

    def one(found: Stack) -> dict[str, Any]:
        made_of = store.get_definition(found.definition_id)
        # Those of the stack around are there already, perhaps a hundred times.
        own = found is stack or made_of.files != files
        environment = dict(made_of.environment)
        environment[PARAMETERS] = {
            **(environment.get(PARAMETERS) or {}),
            **made_of.parameters,
        }
        return {
            'name': found.name,
            'id': found.uuid,
            'action': found.base.action,
            'status': found.base.status,
            'template': dict(made_of.template),
            'environment': environment,
            'files': dict(made_of.files) if own else {},
            'project_id': found.tenant,
            'stack_user_project_id': found.tenant,
            'tags': list(found.tags),
            'resources': {
                row.name: resource(row) for row in members.get(found.id or 0, ())
            },
        }

    def resource(row: Resource) -> dict[str, Any]:
        nested = inside.get(row.nested_id)
        facts = {
            'name': row.name,
            'resource_id': row.physical_id,
            'type': row.type,
            'action': row.base.action,
            'status': row.base.status,
            'status_reason': row.base.reason,
            'marked': row.under_mark is not None,
            'metadata': dict(row.metadata),
            'resource_data': dict(row.data),
            'attributes': dict(row.attributes),
        }
        return facts if nested is None else {**one(nested), **facts}

    return one(stack)


def _over(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return an environment with another one laid over it."""
    found = {**before, **after}
    for key in (PARAMETERS, DEFAULTS, REGISTRY):
        if key in before and key in after:
            found[key] = {**before[key], **after[key]}
    if REGISTRY in before and REGISTRY in after:
        inner = [e[REGISTRY].get('resources') or {} for e in (before, after)]
        if any(inner):
            found[REGISTRY]['resources'] = {**inner[0], **inner[1]}
    if ENCRYPTED in before and ENCRYPTED in after:
        names = [*before[ENCRYPTED], *after[ENCRYPTED]]
        found[ENCRYPTED] = list(dict.fromkeys(names))
    return {key: value for key, value in found.items() if value not in (None, {}, [])}


def _undeclared(before: Definition, template: Mapping[str, Any]) -> set[str]:
    """Return the given parameters that a template does not have.

    Of one whose section makes no sense, all are told elsewhere.
    """
    declared = template.get(PARAMETERS) if isinstance(template, Mapping) else None
    names = set(declared) if isinstance(declared, Mapping) else set()
    given = {*before.parameters, *(before.environment.get(PARAMETERS) or ())}
    return given - names


def _without(values: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _files(written: Any) -> dict[str, str]:
    found = _mapping('files', written)
    wrong = [
        f'files.{name}: this is {kind(text)}; it must be text'
        for name, text in found.items()
        if not isinstance(text, str)
    ]
    if wrong:
        raise exceptions.StackValidationFailed(wrong)
    return found


def _mapping(place: str, written: Any) -> dict[str, Any]:
    if written is None:
        return {}
    if not isinstance(written, Mapping):
        raise exceptions.StackValidationFailed(
            f'{place}: this is {kind(written)}; it must be a mapping'
        )
    return dict(written)
