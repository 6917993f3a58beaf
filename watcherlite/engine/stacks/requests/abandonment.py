"""Abandoned stacks: their export, and the record from which others adopt.

The rows of an abandoned stack stay, deleted, until a purge. They are the record of
its resources. The document of a client only selects from this record, and may rename;
what else it says about the resources has no effect.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store, Transaction
from watcherlite.domain.stacks import Resource, Stack, StackRequest
from watcherlite.domain.templates import facade, formats
from watcherlite.domain.templates.environment import PARAMETERS
from watcherlite.engine.stacks.requests.definition_merge import mapping_at
from watcherlite.states import stack as states
from watcherlite.states.stack import State

_PLACE = 'adopt_stack_data'
#: The keys of a resource in the document that are used.
_RESOURCE_KEYS = (
    'resource_id',
    'resource_data',
    'attributes',
    'resources',
    'action',
    'status',
    'status_reason',
    'marked',
)
#: The key for the definition of a group member, from the template of the group.
DEFINITION = 'definition'


def adopted_resources(new: StackRequest) -> dict[str, Any] | None:
    """Return the resources that a request adopts, by name; None: it adopts none.

    :raises StackValidationFailed: the document is not one that `export_stack` returns
    """
    if new.adopt is None:
        return None
    return _read_members(f'{_PLACE}.resources', new.adopt.get('resources'))


def _read_members(place: str, value: Any) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, given in mapping_at(place, value).items():
        inner = f'{place}.{name}'
        member = mapping_at(inner, given)
        members[name] = {key: member[key] for key in _RESOURCE_KEYS if key in member}
        for key in ('resource_data', 'attributes'):
            mapping_at(f'{inner}.{key}', member.get(key))
        if 'resources' in member:
            members[name]['resources'] = _read_nested(inner, member)
    return members


def _read_nested(place: str, member: Mapping[str, Any]) -> dict[str, Any]:
    nested = _read_members(f'{place}.resources', member['resources'])
    template = mapping_at(f'{place}.template', member.get('template'))
    written = formats.format_of(template)
    resources = f'{place}.template.{written.key("resources")}'
    definitions = mapping_at(resources, formats.section(template, 'resources'))
    for name in nested.keys() & definitions.keys():
        definition = mapping_at(f'{resources}.{name}', definitions[name])
        nested[name][DEFINITION] = definition
    return nested


class AdoptionClaim:
    """The resources of an abandoned stack that a new stack takes over.

    Used within the transaction that stores the new stack.

    :param desired: see `adopted_resources`
    """

    def __init__(
        self,
        store: Store,
        tx: Transaction,
        desired: Mapping[str, Any],
        abandoned: Stack,
    ) -> None:
        self._store = store
        self._desired = desired
        self._abandoned = abandoned
        self._members = _locked_members(tx, abandoned)
        self._claimed: dict[int, Resource] = {}
        self._problems: list[str] = []

    def adopted(self) -> dict[str, Any]:
        """Return the record of the adopted resources, by name.

        :raises StackValidationFailed: with every resource that is not in the record
        """
        stack_id = self._abandoned.id
        matched = self._match(f'{_PLACE}.resources', self._desired, stack_id, {})
        if self._problems:
            raise exceptions.StackValidationFailed(self._problems)
        return matched

    def consume(self, tx: Transaction, by: Stack) -> None:
        """Remove the adopted resources from the record."""
        reason = f'Adopted by stack {by.name} ({by.uuid})'
        state = State(states.DELETE, states.COMPLETE, reason)
        tx.save_resources(
            [row.at(state, under_lock=None) for row in self._claimed.values()]
        )

    def _match(
        self,
        place: str,
        desired: Mapping[str, Any],
        stack_id: int,
        definitions: Mapping[str, Any],
    ) -> dict[str, Any]:
        rows = self._members.get(stack_id, {})
        by_id = {row.physical_id: row for row in rows.values()}
        matched: dict[str, Any] = {}
        for name, given in desired.items():
            row = rows.get(name)
            physical_id = given.get('resource_id')
            if isinstance(physical_id, str) and (
                row is None or row.physical_id != physical_id
            ):
                row = by_id.get(physical_id)
            if row is None or row.id in self._claimed:
                stack = self._abandoned
                self._problems.append(
                    f'{place}.{name}: the abandoned stack {stack.name} ({stack.uuid}) '
                    'has no such resource, or another stack has adopted it'
                )
                continue
            self._claimed[row.id] = row
            matched[name] = self._record(f'{place}.{name}', row, given)
            if row.name in definitions:
                matched[name][DEFINITION] = definitions[row.name]
        return matched

    def _record(
        self, place: str, row: Resource, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        record: dict[str, Any] = {
            'handler': row.handler,
            'resource_id': row.physical_id,
            'resource_data': dict(row.data),
            'attributes': dict(row.attributes),
            'action': row.base.action,
            'status': row.base.status,
            'status_reason': row.base.reason,
            'marked': row.under_mark is not None,
        }
        members = given.get('resources')
        if row.nested_id is None or members is None:
            return record
        nested = self._store.stacks_by_id([row.nested_id]).get(row.nested_id)
        definitions: Mapping[str, Any] = {}
        if nested is not None:
            template = self._store.get_definition(nested.definition_id).template
            definitions = formats.mapping_section(template, 'resources')
        record['resources'] = self._match(
            f'{place}.resources', members, row.nested_id, definitions
        )
        return record


def claim_resources(
    store: Store,
    tx: Transaction,
    document: Mapping[str, Any],
    desired: Mapping[str, Any],
    tenant: str,
) -> AdoptionClaim | None:
    """Return the claim of a new stack on an abandoned one; None: it adopts nothing.

    :param document: as the client has sent it
    :param desired: see `adopted_resources`
    :raises StackValidationFailed: the project has abandoned no stack of that id
    """
    if not desired:
        return None
    uuid = document.get('id')
    if not isinstance(uuid, str) or not uuid:
        raise exceptions.StackValidationFailed(
            f'{_PLACE}.id: it must be the id of the stack that was abandoned'
        )
    try:
        abandoned = store.find_stack(uuid, tenant, deleted=True)
    except exceptions.StackNotFound:
        abandoned = None
    if abandoned is None or abandoned.uuid != uuid:
        raise exceptions.StackValidationFailed(
            f'{_PLACE}.id: this project has abandoned no stack {uuid}, or its record '
            'has been purged'
        )
    if abandoned.deleted_at is None:
        raise exceptions.StackValidationFailed(
            f'{_PLACE}.id: stack {abandoned.name} ({uuid}) still has its resources; '
            'abandon it first'
        )
    return AdoptionClaim(store, tx, desired, abandoned)


def _locked_members(
    tx: Transaction, abandoned: Stack
) -> dict[int, dict[str, Resource]]:
    """Return the record of a stack and its nested stacks: stack id -> name -> row."""
    members: dict[int, dict[str, Resource]] = {}
    level: Iterable[int] = [abandoned.id]
    while ids := sorted(set(level) - members.keys()):
        tx.lock_stacks(ids)
        members |= {stack_id: {} for stack_id in ids}
        rows = tx.abandoned_resources(ids)
        for row in rows:
            members[row.stack_id][row.name] = row
        level = [row.nested_id for row in rows if row.nested_id is not None]
    return members


def export_stack(
    store: Store, stacks: Sequence[Stack], rows: Sequence[Resource]
) -> dict[str, Any]:
    """Return the document with which another stack can adopt the resources of one.

    :param stacks: the stack, and its descendants
    :param rows: the resources of all of these
    """
    return _Export(store, stacks, rows).stack(stacks[0])


class _Export:
    def __init__(
        self, store: Store, stacks: Sequence[Stack], rows: Sequence[Resource]
    ) -> None:
        self._store = store
        self._root = stacks[0]
        self._stacks: dict[int | None, Stack] = {s.id: s for s in stacks}
        self._rows: dict[int, list[Resource]] = {}
        for row in rows:
            if row.superseded_by is None:
                self._rows.setdefault(row.stack_id, []).append(row)
        self._files = store.get_definition(self._root.definition_id).files

    def stack(self, stack: Stack) -> dict[str, Any]:
        definition = self._store.get_definition(stack.definition_id)
        # Nested stacks share the files of the root: write these only once.
        own_files = stack is self._root or definition.files != self._files
        environment, _ = facade.separate(definition.environment)
        environment[PARAMETERS] = {
            **(environment.get(PARAMETERS) or {}),
            **definition.parameters,
        }
        rows = self._rows.get(stack.id, ())
        return {
            'name': stack.name,
            'id': stack.uuid,
            'action': stack.base.action,
            'status': stack.base.status,
            'template': dict(definition.template),
            'environment': environment,
            'files': dict(definition.files) if own_files else {},
            'project_id': stack.tenant,
            'stack_user_project_id': stack.tenant,
            'tags': list(stack.tags),
            'resources': {row.name: self._resource(row) for row in rows},
        }

    def _resource(self, row: Resource) -> dict[str, Any]:
        resource = {
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
        nested = self._stacks.get(row.nested_id)
        return resource if nested is None else {**self.stack(nested), **resource}
