"""The base case of the store contract of stacks."""

import datetime
from typing import Any

from tests.contract.store_case import StoreCase, make_bare_event
from tests.factories import NOW, new_uuid
from watcherlite.db.api import Transaction
from watcherlite.domain import events
from watcherlite.domain.events import Event
from watcherlite.domain.stacks import (
    Definition,
    NewResource,
    NewStack,
    Resource,
    Stack,
    StoredDefinition,
)

TENANT = 'project-a'


def make_definition(**values: Any) -> Definition:
    """Return a definition, unique unless its content is given."""
    return Definition(**{'template': {'of': new_uuid()}, **values})


def make_stack(definition_id: int, **values: Any) -> NewStack:
    """Return a new stack of one of the tenants."""
    given: dict[str, Any] = {'name': f'stack-{new_uuid()}', 'tenant': TENANT, **values}
    common = {'uuid': new_uuid(), 'created_at': NOW}
    return NewStack(definition_id=definition_id, **{**common, **given})


def make_resource(stack: Stack, **values: Any) -> NewResource:
    """Return a new resource of a stack."""
    given: dict[str, Any] = {
        'uuid': new_uuid(),
        'name': f'resource-{new_uuid()}',
        'type': 'OS::Heat::None',
        'handler': 'OS::Heat::None',
        'created_at': NOW,
        **values,
    }
    return NewResource(stack_id=stack.id, **given)


def stack_event(stack: Stack, **values: Any) -> Event:
    """Return an event of a stack."""
    given = {'subject': events.STACK, 'new_status': 'CREATE_COMPLETE', **values}
    return make_bare_event(subject_id=stack.id, **given)


def resource_event(stack: Stack, resource: Resource, **values: Any) -> Event:
    """Return an event of a resource of a stack."""
    detail = {'uuid': resource.uuid, 'name': resource.name, 'type': resource.type}
    return stack_event(stack, subject=events.RESOURCE, detail=detail, **values)


class StackCase(StoreCase):
    """Methods to store and change stacks and resources."""

    def insert_definition(self, **values: Any) -> StoredDefinition:
        return self.commit(lambda tx: tx.insert_definition(make_definition(**values)))

    def insert_stack(self, **values: Any) -> Stack:
        """Store a stack in a transaction of its own."""
        definition_id = values.pop('definition_id', None) or self.insert_definition().id
        stack = make_stack(definition_id, **values)
        return self.commit(lambda tx: tx.insert_stack(stack))

    def nested_stack(self, owner: Stack, **values: Any) -> Stack:
        """Store a nested stack."""
        stack = make_stack(
            owner.definition_id,
            owner_id=owner.id,
            root_id=owner.root_id,
            depth=owner.depth + 1,
            tenant=owner.tenant,
            **values,
        )

        def block(tx: Transaction) -> Stack:
            tx.lock_stacks([owner.id])
            return tx.insert_stack(stack)

        return self.commit(block)

    def insert_resources(self, stack: Stack, *given: dict[str, Any]) -> list[Resource]:
        """Store resources of a stack."""
        resources = [make_resource(stack, **values) for values in given]

        def block(tx: Transaction) -> list[int]:
            tx.lock_stacks([stack.id])
            return tx.insert_resources(resources)

        ids = self.commit(block)
        return [r.stored(key) for r, key in zip(resources, ids, strict=True)]

    def save_stack(self, stack: Stack, *resources: Resource) -> None:
        """Lock a stack and save it, and resources of it."""

        def block(tx: Transaction) -> None:
            tx.lock_stacks([stack.id])
            tx.save_stacks([stack])
            tx.save_resources(resources)

        self.commit(block)

    def delete_stack(self, stack: Stack, when: datetime.datetime = NOW) -> Stack:
        """Soft-delete a stack."""
        gone = stack.evolve(action='DELETE', status='COMPLETE', deleted_at=when)
        self.save_stack(gone)
        return gone

    def add_stack_events(self, stack: Stack, *added: Event) -> None:
        """Store events of a stack, which is locked in the transaction."""

        def block(tx: Transaction) -> None:
            tx.lock_stacks([stack.id])
            tx.add_events(added)

        self.commit(block)

    def stored_stack(self, stack: Stack) -> Stack | None:
        """Return the stored state of a stack."""
        return self.store.stacks_by_id([stack.id]).get(stack.id)
