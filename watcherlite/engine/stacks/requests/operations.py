"""The operations of users on stacks.

Each operation checks, changes and stores events in one transaction that has locked the
whole tree of stacks; a refused operation changes nothing. The transaction stores the
IN_PROGRESS state of the stack together with the action that continues from there.
"""

import contextlib
import datetime
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.db.credentials import AUTHORITY, reference_to
from watcherlite.domain import bearer_tokens, commands, events
from watcherlite.domain.actions import ENGINE, Action, NewAction
from watcherlite.domain.events import created_event
from watcherlite.domain.stacks import (
    Definition,
    NewStack,
    Resource,
    Stack,
    StackRequest,
)
from watcherlite.engine.stacks import handlers
from watcherlite.engine.stacks.action_inputs import (
    RESOURCE,
    SIGNAL,
    STACK,
    ResourceInputs,
    StackInputs,
)
from watcherlite.engine.stacks.projection import (
    resource_transitions,
    stack_events,
    stack_transitions,
)
from watcherlite.engine.stacks.queries import find_resource
from watcherlite.engine.stacks.requests import (
    abandonment,
    admission,
    definition_merge,
    hooks,
    validation,
)
from watcherlite.engine.stacks.requests.preview import (
    PlannedResource,
    preview_creation,
    preview_update,
)
from watcherlite.engine.stacks.services import StackLimits, StackServices
from watcherlite.engine.stacks.tree import StackTree, tree_target
from watcherlite.execution.ports import SignalSender
from watcherlite.execution.retries import retry_on, retry_on_conflict
from watcherlite.plugins.base import NestedHandler
from watcherlite.states import action as action_states
from watcherlite.states import stack as states
from watcherlite.states.stack import State

LOG = logging.getLogger(__name__)

IGNORED = 'Signal ignored: {}'
#: The error for an unknown signal_url, and for one with a wrong token.
NO_SIGNAL = (
    'No resource has this signal_url: it is deleted, or the token in the address is '
    'missing or wrong.'
)
#: The state in which an operation has nothing to do.
_DONE = {states.SUSPEND: 'SUSPEND_COMPLETE', states.RESUME: 'RESUME_COMPLETE'}


class StackOperations:
    """The operations on stacks; `name` is a uuid, or the name of a root stack."""

    def __init__(
        self, services: StackServices, clock: Clock, signals: SignalSender
    ) -> None:
        self._services = services
        self._store: Store = services.store
        self._clock = clock
        self._messenger = services.messenger
        self._signals = signals

    @property
    def limits(self) -> StackLimits:
        """Return the limits of stacks."""
        return self._services.limits

    # create, update, delete

    def create(
        self,
        new: StackRequest,
        tenant: str,
        user: str | None = None,
        context: Mapping[str, Any] | None = None,
        delegate: Callable[[], str] | None = None,
    ) -> Stack:
        """Store a stack as CREATE_IN_PROGRESS with the action that creates it.

        :param context: of the request; never credentials
        :param delegate: called if the request is valid: stores the authority of its
            user for the stack; returns the uuid of the credential
        :raises Invalid: the template or the parameters are invalid
        :raises StackExists: another stack of the tenant has the name
        :raises RequestLimitExceeded: the tenant has reached its quota
        """
        stack, definition = self._validated(new, tenant, user, context or {})
        credential = None if delegate is None else delegate()
        if credential is not None:
            reference = reference_to(stack.uuid, credential)
            stack = stack.evolve(context={**stack.context, AUTHORITY: reference})
        stored = self._insert(stack, definition, new, credential)
        self._announce_work()
        LOG.info('Stack %s (%s) stored', stored.uuid, stored.name)
        return stored

    def _validated(
        self,
        new: StackRequest,
        tenant: str,
        user: str | None,
        context: Mapping[str, Any],
    ) -> tuple[NewStack, Definition]:
        """Return the requested stack and its definition, both validated."""
        validation.check_name(new.name)
        definition = definition_merge.build_definition(new)
        stack = validation.build_stack(
            new, definition, tenant, user, context, self.limits
        )
        validation.validate_stack(self._services, stack, definition)
        return stack, definition

    @retry_on_conflict
    def _insert(
        self,
        stack: NewStack,
        definition: Definition,
        new: StackRequest,
        credential: str | None,
    ) -> Stack:
        now = self._clock.now()
        do = states.CREATE if new.adopt is None else states.ADOPT
        desired = abandonment.adopted_resources(new)
        with self._store.transaction() as tx:
            validation.check_quota(self._services, tx, stack.tenant)
            claim = abandonment.claim_resources(
                self._store, tx, new.adopt or {}, desired or {}, stack.tenant
            )
            stored_definition = tx.insert_definition(definition)
            uuid = events.new_uuid()
            empty = stack.evolve(definition_id=stored_definition.id, created_at=now)
            inputs = StackInputs(0, do)
            stored = tx.insert_stack(
                stack_transitions.in_progress(empty, inputs, uuid, now)
            )
            if credential is not None:
                tx.assign_credential(credential, stored.uuid)
            if claim is not None:
                desired = claim.adopted()
                claim.consume(tx, stored)
            inputs = StackInputs(stored.id, do, adopted=desired)
            self._insert_action(tx, uuid, stored, tree_target(stored), inputs, now)
            tx.add_events([stack_events.stack_event(None, stored, now, events.CREATED)])
        return stored

    @retry_on(exceptions.OutOfDate)
    def update(
        self,
        name: str,
        tenant: str | None,
        new: StackRequest,
        context: Mapping[str, Any] | None = None,
    ) -> Stack:
        """Update a stack to a new template; supersedes the operation in progress.

        :raises StackNotFound, Invalid, Conflict: see the message
        """
        stack = self._store.find_stack(name, tenant)
        apply = validation.prepare_update(self._services, stack, new)

        def change(tx: Transaction, tree: StackTree) -> tuple[Stack, StackInputs]:
            changed, definition_id = apply(tx, tree.stack)
            inputs = StackInputs(changed.id, states.UPDATE, definition=definition_id)
            return changed, inputs

        return self._start(stack, states.UPDATE, change, context)

    def delete(
        self, name: str, tenant: str | None, context: Mapping[str, Any] | None = None
    ) -> Stack:
        """Delete a stack; does nothing if it is already being deleted."""
        stack = self._store.find_stack(name, tenant)
        if stack.state.name == 'DELETE_IN_PROGRESS':
            return stack
        return self.start_operation(stack.uuid, tenant, states.DELETE, context=context)

    def start_operation(
        self,
        name: str,
        tenant: str | None,
        operation: str,
        level: str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Stack:
        """Start SUSPEND, RESUME, CHECK, LOCK, UNLOCK or DELETE.

        Does nothing if the stack is suspended, resumed, or locked at this level.

        :param level: of LOCK: ALL (the default) or STACKS
        """
        of_lock = operation in states.MAINTENANCE
        stack = self._store.find_stack(name, tenant, deleted=of_lock)
        if stack.deleted_at is not None:
            # Spec 004: a deleted stack is a conflict, and not unknown.
            raise exceptions.Conflict(f'Stack {stack.name} is deleted.')
        level = (level or states.ALL) if operation == states.LOCK else None

        def change(
            tx: Transaction, tree: StackTree
        ) -> tuple[Stack, StackInputs | None]:
            found = tree.stack
            if found.base.name == _DONE.get(operation):
                # Clients wait for this state to be shown.
                return found.at(found.base, under_lock=None), None
            if operation == states.UNLOCK and not tree.above:
                # A stack that its parent has left behind owns its inherited lock.
                found = found.evolve(lock_level=found.level, inherited_level=None)
            same = found.lock_level == level and found.state.name == 'LOCK_COMPLETE'
            if operation == states.LOCK and same:
                return found, None
            return found, StackInputs(found.id, operation, level=level)

        return self._start(stack, operation, change, context)

    def cancel(
        self,
        name: str,
        tenant: str | None,
        rollback: bool,
        context: Mapping[str, Any] | None = None,
    ) -> Stack:
        """Stop an update, or without `rollback` also a creation.

        :param rollback: restore the previous definition
        """
        stack = self._store.find_stack(name, tenant)
        if rollback and stack.state.busy and stack.action == states.CREATE:
            raise exceptions.NotSupported(
                f'Cancelling with rollback is for updates; stack {stack.name} is '
                f'{stack.state.name}.'
            )
        if not rollback:
            with self._store.transaction() as tx:
                tree = StackTree.lock(tx, stack)
                admission.check_allowed(tree, states.CANCEL_UPDATE)
            self._stop(tree.stack.operation)
            return tree.stack

        def change(tx: Transaction, tree: StackTree) -> tuple[Stack, StackInputs]:
            return tree.stack, StackInputs(tree.stack.id, states.ROLLBACK)

        return self._start(stack, states.CANCEL_UPDATE, change, context)

    # starting an operation

    def _start(
        self,
        stack: Stack,
        operation: str,
        change: Callable[[Transaction, StackTree], tuple[Stack, StackInputs | None]],
        context: Mapping[str, Any] | None,
    ) -> Stack:
        running, signals, after = self._store_start(stack, operation, change, context)
        for uuid in [*running, *admission.applied_signals(self._store, signals)]:
            self._stop(uuid)
        self._announce_work()
        return after

    @retry_on_conflict
    def _store_start(
        self,
        stack: Stack,
        operation: str,
        change: Callable[[Transaction, StackTree], tuple[Stack, StackInputs | None]],
        context: Mapping[str, Any] | None,
    ) -> tuple[list[str], list[Action], Stack]:
        """Store the start of an operation; return what it supersedes."""
        now = self._clock.now()
        with self._store.transaction() as tx:
            tree = StackTree.lock(tx, stack)
            before = tree.stack
            admission.check_allowed(tree, operation)
            changed, inputs = change(tx, tree)
            if inputs is None:
                if changed.state != before.state:
                    tx.save_stacks([changed])
                    tx.add_events([stack_events.stack_event(before, changed, now)])
                return [], [], changed
            uuid = events.new_uuid()
            after = stack_transitions.in_progress(changed, inputs, uuid, now)
            tx.save_stacks([after])
            if context is not None:
                after = after.evolve(context=context)
            self._insert_action(tx, uuid, after, tree.target, inputs, now)
            tx.add_events([stack_events.stack_event(before, after, now)])
            signals = admission.running_signals(tx, tree, operation)
        LOG.info('Stack %s (%s): %s started', after.uuid, after.name, inputs.do)
        return tree.running, signals, after

    def _insert_action(
        self,
        tx: Transaction,
        uuid: str,
        stack: Stack,
        target: str | None,
        inputs: StackInputs | ResourceInputs,
        now: datetime.datetime,
        row: Resource | None = None,
    ) -> None:
        """Insert the action of an operation on a stack, or on a resource of it."""
        action = NewAction(
            uuid=uuid,
            action_type=STACK if row is None else RESOURCE,
            lane=ENGINE,
            name=stack.name if row is None else row.name,
            target=target,
            inputs=inputs.as_inputs(),
            context=stack.context,
            timeout=stack.timeout,
            status=action_states.READY,
            created_at=now,
        )
        (action_id,) = tx.insert_actions([action], [])
        tx.add_events([created_event(action.stored(action_id), None, now)])

    def _stop(self, operation: str | None) -> None:
        """Cancel an operation that is superseded or cancelled by a user.

        An operation that the signal does not reach ends at its next stage.
        """
        if operation is None:
            return
        with contextlib.suppress(exceptions.NotFound, exceptions.Conflict):
            self._signals.signal_action(operation, action_states.CANCEL)

    def _announce_work(self) -> None:
        self._messenger.send(ENGINE, commands.RunActions())
        self._messenger.broadcast(commands.EventsStored())

    # resources

    @retry_on_conflict
    def mark_unhealthy(
        self,
        name: str,
        tenant: str | None,
        resource: str,
        unhealthy: bool,
        reason: str | None = None,
    ) -> Resource:
        """Mark a resource as unhealthy, or clear the mark (spec 002).

        :param resource: a name, a physical id, or a value of get_resource
        :raises ActionInProgress: an operation on its stack is in progress
        """
        stack = self._store.find_stack(name, tenant)
        text = reason or resource_transitions.DEFAULT_REASON
        now = self._clock.now()
        with self._store.transaction() as tx:
            tree = StackTree.lock(tx, stack)
            row = self._find(tx, tree.stack, resource)
            admission.check_allowed(tree, states.MARK)
            admission.check_idle(tree, row)
            after = (
                resource_transitions.mark(row, text)
                if unhealthy
                else resource_transitions.clear_mark(row, text)
            )
            if after is not row:
                tx.save_resources([after])
                tx.add_events(stack_events.state_changes(row, after, now))
        self._messenger.broadcast(commands.EventsStored())
        return after

    def signal(
        self,
        name: str,
        tenant: str | None,
        resource: str,
        details: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        """Send a signal to a resource, or clear the hook at which it waits.

        A locked stack ignores the signal, unless it clears a hook.

        :raises ResourceActionNotSupported, NotSupported: the resource accepts no
            signals, or not in its state
        :raises InvalidBreakPointHook: the resource does not wait at the hook
        """
        stack = self._store.find_stack(name, tenant)
        if details is not None and hooks.UNSET in details:
            self._clear_hook(stack, resource, details[hooks.UNSET])
        else:
            self._deliver(stack, resource, details)

    @retry_on_conflict
    def _clear_hook(self, stack: Stack, resource: str, hook: object) -> None:
        with self._store.transaction() as tx:
            tree = StackTree.lock(tx, stack)
            hooks.clear(self._store, tx, tree.stack, resource, hook, self._clock.now())
        self._announce_work()

    @retry_on_conflict
    def _deliver(
        self, stack: Stack, resource: str, details: Mapping[str, Any] | None
    ) -> None:
        """Store the action that delivers a signal to the handler of a resource."""
        now = self._clock.now()
        with self._store.transaction() as tx:
            tree = StackTree.lock(tx, stack)
            row = self._find(tx, tree.stack, resource)
            modifies = self._is_modified_by_signals(row)
            found = tree.stack
            refusal = states.blocking_reason(
                states.SIGNAL, found.state, found.base, found.name
            ) or admission.ancestor_lock(tree, states.SIGNAL)
            if refusal is not None and modifies:
                if not refusal.locked:
                    raise exceptions.NotSupported(refusal.text)
                reason = IGNORED.format(refusal.text)
                event = stack_events.resource_event(
                    row,
                    row,
                    now,
                    kind=events.SIGNALLED,
                    state='SIGNAL_COMPLETE',
                    reason=reason,
                )
                tx.add_events([event])
            else:
                inputs = ResourceInputs(
                    found.id, row.id, SIGNAL, row.handler, details=dict(details or {})
                )
                # A signal that changes nothing need not wait for operations, but for
                # other signals to the resource: each adds to what it stores.
                target = tree.target if modifies else f'signal:{row.uuid}'
                uuid = events.new_uuid()
                self._insert_action(tx, uuid, found, target, inputs, now, row)
        self._announce_work()

    def signal_with_token(
        self,
        uuid: str,
        resource: str,
        token: str | None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Send a signal with the token that the handler has issued; see `signal`.

        The token authorizes signals to the handler. It does not clear hooks.

        :raises NotFound: there is no such resource, or the token is wrong
        """
        try:
            stack = self._store.find_stack(uuid, None)
            rows = self._store.list_resources([stack.id], names=[resource])
        except exceptions.NotFound:
            raise exceptions.NotFound(NO_SIGNAL) from None
        digest = rows[0].data.get(bearer_tokens.SIGNAL_DIGEST) if rows else None
        if stack.uuid != uuid or not bearer_tokens.is_valid(token, digest):
            raise exceptions.NotFound(NO_SIGNAL)
        self._deliver(stack, resource, details)

    def _is_modified_by_signals(self, row: Resource) -> bool:
        """Return whether a signal modifies a resource.

        :raises ResourceActionNotSupported: its type accepts no signals
        """
        handler = handlers.make_handler(self._services.handlers, row.handler)
        adjusts = isinstance(handler, NestedHandler) and handler.adjusts()
        if not (handler.supports('signal') or adjusts):
            raise exceptions.ResourceActionNotSupported(
                f'Signal is not supported for resource {row.name} ({row.type}).'
            )
        return handler.modified_by_signals

    def _find(self, tx: Transaction, stack: Stack, name: str) -> Resource:
        rows = tx.resources_of([stack.id], superseded=False)
        return find_resource(rows, stack, name)

    # previews, validation and abandonment

    def preview(
        self, new: StackRequest, tenant: str, user: str | None = None
    ) -> tuple[NewStack, list[PlannedResource]]:
        """Return the stack that `create` would store, and its resources."""
        stack, definition = self._validated(new, tenant, user, {})
        return stack, preview_creation(self._services, stack, definition)

    def preview_update(
        self, name: str, tenant: str | None, new: StackRequest, nested: bool = False
    ) -> Mapping[str, Sequence[PlannedResource]]:
        """Return the effect of `update`: the resources by kind of change.

        :param nested: include the resources of nested stacks
        """
        stack = self._store.find_stack(name, tenant)
        definition = validation.validate_update(self._services, stack, new)
        return preview_update(self._services, stack, definition, nested)

    def validate(self, new: StackRequest, nested: bool = False) -> dict[str, Any]:
        """Validate a template, whose parameters need no values; return its description.

        :param nested: include the templates of its resources
        :returns: the body of the response to `POST /validate`
        :raises StackValidationFailed: with all problems
        """
        definition = definition_merge.build_definition(new)
        return validation.describe_template(self._services, definition, nested)

    @retry_on_conflict
    def abandon(self, name: str, tenant: str | None) -> dict[str, Any]:
        """Delete a stack, but not its resources.

        :returns: the document with which `create` adopts them
        """
        stack = self._store.find_stack(name, tenant)
        now = self._clock.now()
        with self._store.transaction() as tx:
            tree = StackTree.lock(tx, stack)
            admission.check_allowed(tree, states.ABANDON)
            every = [tree.stack, *tree.below]
            rows = tx.resources_of([s.id for s in every])
            exported = abandonment.export_stack(self._store, every, rows)
            left = State(states.DELETE, states.COMPLETE, 'Stack abandoned')
            gone = [s.at(left, deleted_at=now, updated_at=now) for s in every]
            tx.save_resources([row.evolve(deleted_at=now) for row in rows])
            tx.save_stacks(gone)
            tx.add_events(
                [
                    stack_events.stack_event(before, after, now)
                    for before, after in zip(every, gone, strict=True)
                ]
            )
        self._messenger.broadcast(commands.EventsStored())
        return exported
