"""What users do with stacks.

Each operation is check, change, event, in one transaction that has locked the whole
tree of stacks; a refusal changes nothing. The state in which a stack is then is
written with the request; an action goes on from there.
"""

import contextlib
import datetime
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events
from watcherlite.domain.actions import ENGINE, Action
from watcherlite.domain.stacks import Definition, NewStack, Resource, Stack
from watcherlite.engine.operations import Tell
from watcherlite.engine.stacks import (
    asking,
    beginning,
    facts,
    guarding,
    handlers,
    marking,
    merging,
    previewing,
    superseding,
)
from watcherlite.engine.stacks.guarding import Tree, target
from watcherlite.engine.stacks.inputs import (
    RESOURCE,
    SIGNAL,
    STACK,
    ResourceInputs,
    StackInputs,
)
from watcherlite.engine.stacks.parts import Limits, Parts
from watcherlite.execution.conflicts import again_on, again_on_conflict
from watcherlite.execution.facts import created_event
from watcherlite.plugins.base import NestedHandler
from watcherlite.states import action as action_states
from watcherlite.states import stack as states
from watcherlite.states.stack import State

LOG = logging.getLogger(__name__)

IGNORED = 'Signal ignored: {}'
#: What of a stack in these states has been done already.
_DONE = {
    states.SUSPEND: 'SUSPEND_COMPLETE',
    states.RESUME: 'RESUME_COMPLETE',
}


class StackOperations:
    """The operations on stacks; `name` is a uuid, or the name of one not nested.

    :param tell: (lane, command), or (None, broadcast): passes a hint on; never
        blocks and never raises
    :param signal: (uuid of an action, signal): sends a signal to it and to all that
        it derived
    """

    def __init__(
        self,
        parts: Parts,
        clock: Clock,
        signal: Callable[[str, str], Any],
    ) -> None:
        self._parts = parts
        self._store: Store = parts.store
        self._clock = clock
        self._tell: Tell = parts.tell
        self._signal = signal

    @property
    def limits(self) -> Limits:
        """Return how large stacks may become."""
        return self._parts.limits

    # create, update, delete

    def create(
        self,
        new: NewStack,
        tenant: str,
        user: str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Stack:
        """Store a stack as CREATE_IN_PROGRESS and have it made.

        :param context: who asked; never credentials
        :raises Invalid: what is wrong with the template or the parameters
        :raises StackExists: another one of the tenant has its name
        :raises RequestLimitExceeded: the tenant has as many as it may have
        """
        stack, definition = self._asked(new, tenant, user, context or {})
        stored = self._insert(stack, definition, new)
        self._tell_of_work()
        LOG.info('Stack %s (%s) is stored', stored.uuid, stored.name)
        return stored

    def _asked(
        self,
        new: NewStack,
        tenant: str,
        user: str | None,
        context: Mapping[str, Any],
    ) -> tuple[Stack, Definition]:
        """Return what is asked for, all of it checked."""
        asking.check_name(new.name)
        definition = merging.definition(new)
        stack = asking.stack_of(
            *(new, definition, tenant, user, context), limits=self.limits
        )
        asking.check(self._parts, stack, definition)
        return stack, definition

    @again_on_conflict
    def _insert(self, stack: Stack, definition: Definition, new: NewStack) -> Stack:
        now = self._clock.now()
        do = states.CREATE if new.adopt is None else states.ADOPT
        with self._store.transaction() as tx:
            asking.check_room(self._parts, tx, stack.tenant)
            known = tx.insert_definition(definition)
            uuid = events.new_uuid()
            empty = stack.evolve(definition_id=known.id or 0, created_at=now)
            inputs = StackInputs(0, do)
            stored = tx.insert_stack(beginning.begun(empty, inputs, uuid, now))
            inputs = StackInputs(stored.id or 0, do, adopted=merging.adopted(new))
            self._begin_action(tx, uuid, stored, stored, inputs, now)
            tx.add_events([facts.stack_event(None, stored, now, events.CREATED)])
        return stored

    @again_on(exceptions.OutOfDate)
    def update(
        self,
        name: str,
        tenant: str | None,
        new: NewStack,
        context: Mapping[str, Any] | None = None,
    ) -> Stack:
        """Make a stack what a new template says; supersedes what changes it now.

        :raises StackNotFound, Invalid, Conflict: see the text
        """
        stack = self._store.find_stack(name, tenant)
        before = self._store.get_definition(stack.definition_id)
        definition = merging.updated(before, new)
        asking.check_update(self._parts, stack, before, definition)
        changes = asking.changes(stack, new, definition)

        def change(tx: Transaction, tree: Tree) -> tuple[Stack, StackInputs]:
            if tree.stack.definition_id != stack.definition_id:
                # Another update came between: what is merged with it is not this.
                raise exceptions.OutOfDate
            known = tx.insert_definition(definition)
            inputs = StackInputs(tree.stack.id or 0, states.UPDATE, definition=known.id)
            return tree.stack.evolve(**changes), inputs

        return self._begin(stack, states.UPDATE, change, context)

    def delete(
        self, name: str, tenant: str | None, context: Mapping[str, Any] | None = None
    ) -> Stack:
        """Delete a stack; one that is being deleted is left to that."""
        stack = self._store.find_stack(name, tenant)
        if stack.state.name == 'DELETE_IN_PROGRESS':
            return stack
        return self.act(stack.uuid, tenant, states.DELETE, context=context)

    def act(
        self,
        name: str,
        tenant: str | None,
        operation: str,
        level: str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Stack:
        """Begin SUSPEND, RESUME, CHECK, LOCK, UNLOCK or DELETE.

        Without effect on one that is suspended, resumed, or locked at this level.

        :param level: of LOCK: ALL (the default) or STACKS
        """
        stack = self._store.find_stack(name, tenant)
        level = (level or states.ALL) if operation == states.LOCK else None

        def change(tx: Transaction, tree: Tree) -> tuple[Stack, StackInputs | None]:
            found = tree.stack
            if found.base.name == _DONE.get(operation):
                return found, None
            same = found.lock_level == level and found.state.name == 'LOCK_COMPLETE'
            if operation == states.LOCK and same:
                return found, None
            return found, StackInputs(found.id or 0, operation, level=level)

        return self._begin(stack, operation, change, context)

    def cancel(
        self,
        name: str,
        tenant: str | None,
        rollback: bool,
        context: Mapping[str, Any] | None = None,
    ) -> Stack:
        """Stop an update, or without `rollback` also a creation.

        :param rollback: go back to what there was before
        """
        stack = self._store.find_stack(name, tenant)
        if rollback and stack.state.busy and stack.action == states.CREATE:
            raise exceptions.NotSupported(
                f'Cancelling with rollback is for updates; stack {stack.name} is '
                f'{stack.state.name}.'
            )
        if not rollback:
            with self._store.transaction() as tx:
                tree = Tree.of(stack.id or 0, tx.lock_tree(stack.root_id or 0))
                guarding.check(tree, states.CANCEL_UPDATE)
            self._stop(tree.stack.operation)
            return tree.stack

        def change(tx: Transaction, tree: Tree) -> tuple[Stack, StackInputs]:
            return tree.stack, StackInputs(tree.stack.id or 0, states.ROLLBACK)

        return self._begin(stack, states.CANCEL_UPDATE, change, context)

    # what all of these have in common

    def _begin(
        self,
        stack: Stack,
        operation: str,
        change: Callable[[Transaction, Tree], tuple[Stack, StackInputs | None]],
        context: Mapping[str, Any] | None,
    ) -> Stack:
        running, signals, after = self._begun(stack, operation, change, context)
        for uuid in [*running, *superseding.followed(self._store, signals)]:
            self._stop(uuid)
        self._tell_of_work()
        return after

    @again_on_conflict
    def _begun(
        self,
        stack: Stack,
        operation: str,
        change: Callable[[Transaction, Tree], tuple[Stack, StackInputs | None]],
        context: Mapping[str, Any] | None,
    ) -> tuple[list[str], list[Action], Stack]:
        """Write down that an operation begins; return what it supersedes."""
        now = self._clock.now()
        with self._store.transaction() as tx:
            tree = Tree.of(stack.id or 0, tx.lock_tree(stack.root_id or 0))
            before = tree.stack
            guarding.check(tree, operation)
            changed, inputs = change(tx, tree)
            if inputs is None:
                return [], [], before
            uuid = events.new_uuid()
            after = beginning.begun(changed, inputs, uuid, now)
            tx.save_stacks([after])
            if context is not None:
                after = after.evolve(context=context)
            self._begin_action(tx, uuid, after, tree.root, inputs, now)
            tx.add_events([facts.stack_event(before, after, now)])
            signals = superseding.signals(tx, tree, operation)
        LOG.info('Stack %s (%s): %s begins', after.uuid, after.name, inputs.do)
        return tree.running, signals, after

    def _begin_action(
        self,
        tx: Transaction,
        uuid: str,
        stack: Stack,
        root: Stack,
        inputs: StackInputs,
        now: datetime.datetime,
    ) -> None:
        self._insert_action(
            tx,
            Action(
                uuid=uuid,
                action_type=STACK,
                lane=ENGINE,
                name=stack.name,
                target=target(root),
                inputs=inputs.as_inputs(),
                context=stack.context,
                timeout=stack.timeout,
                status=action_states.READY,
                created_at=now,
            ),
            now,
        )

    def _insert_action(
        self, tx: Transaction, action: Action, now: datetime.datetime
    ) -> None:
        (action_id,) = tx.insert_actions([action], [])
        tx.add_events([created_event(action.evolve(id=action_id), None, now)])

    def _stop(self, operation: str | None) -> None:
        """Have an operation end that has been superseded, or is not wanted.

        What is not reached by this ends by itself when it is at its next stage.
        """
        if operation is None:
            return
        with contextlib.suppress(exceptions.NotFound, exceptions.Conflict):
            self._signal(operation, action_states.CANCEL)

    def _tell_of_work(self) -> None:
        self._tell(ENGINE, commands.RunActions())
        self._tell(None, commands.EventsStored())

    # resources

    @again_on_conflict
    def mark_unhealthy(
        self,
        name: str,
        tenant: str | None,
        resource: str,
        unhealthy: bool,
        reason: str | None = None,
    ) -> Resource:
        """Say how a resource is, which the system cannot see (spec 002).

        :param resource: a name, a physical id, or what get_resource gives
        :raises ActionInProgress: the stack, or one around or in it, is changed
        """
        stack = self._store.find_stack(name, tenant)
        text = reason or marking.DEFAULT_REASON
        now = self._clock.now()
        with self._store.transaction() as tx:
            tree = Tree.of(stack.id or 0, tx.lock_tree(stack.root_id or 0))
            row = self._present(tx, tree.stack, resource)
            guarding.check(tree, states.MARK)
            after = (
                marking.marked(row, text) if unhealthy else marking.unmarked(row, text)
            )
            if after is not row:
                tx.save_resources([after])
                tx.add_events(facts.changed(row, after, now))
        self._tell(None, commands.EventsStored())
        return after

    @again_on_conflict
    def signal(
        self,
        name: str,
        tenant: str | None,
        resource: str,
        details: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        """Have a resource take note of a signal; under a lock it is ignored.

        :raises ResourceActionNotSupported, NotSupported: it takes none, or not now
        """
        stack = self._store.find_stack(name, tenant)
        now = self._clock.now()
        with self._store.transaction() as tx:
            tree = Tree.of(stack.id or 0, tx.lock_tree(stack.root_id or 0))
            row = self._present(tx, tree.stack, resource)
            modifies = self._takes_signals(row)
            refusal = states.refusal(
                *(states.SIGNAL, tree.stack.state, tree.stack.base, tree.stack.name)
            ) or guarding.lock_around(tree, states.SIGNAL)
            if refusal is not None and modifies:
                if not refusal.locked:
                    raise exceptions.NotSupported(refusal.text)
                reason = IGNORED.format(refusal.text)
                told = facts.resource_event(
                    *(row, row, now, events.SIGNALLED, 'SIGNAL_COMPLETE', reason)
                )
                tx.add_events([told])
            else:
                self._begin_signal(tx, tree, row, details or {}, modifies, now)
        self._tell_of_work()

    def _begin_signal(
        self,
        tx: Transaction,
        tree: Tree,
        row: Resource,
        details: Mapping[str, Any],
        modifies: bool,
        now: datetime.datetime,
    ) -> None:
        inputs = ResourceInputs(
            *(tree.stack.id or 0, row.id or 0, SIGNAL, row.handler),
            details=dict(details),
        )
        self._insert_action(
            tx,
            Action(
                uuid=events.new_uuid(),
                action_type=RESOURCE,
                lane=ENGINE,
                name=row.name,
                # What changes nothing need not wait for what does.
                target=tree.target if modifies else None,
                inputs=inputs.as_inputs(),
                context=tree.stack.context,
                timeout=tree.stack.timeout,
                status=action_states.READY,
                created_at=now,
            ),
            now,
        )

    def _takes_signals(self, row: Resource) -> bool:
        """Say whether a signal changes it; ResourceActionNotSupported if it cannot."""
        handler = handlers.make(self._parts.handlers, row.handler)
        adjusts = isinstance(handler, NestedHandler) and handler.adjusts()
        if not (handler.supports('signal') or adjusts):
            raise exceptions.ResourceActionNotSupported(
                f'Signal is not supported for resource {row.name} ({row.type}).'
            )
        return handler.modified_by_signals

    def _present(self, tx: Transaction, stack: Stack, name: str) -> Resource:
        rows = tx.resources_of([stack.id or 0], superseded=False)
        return marking.found(rows, stack, name)

    # what changes nothing, or only what is kept of it

    def preview(
        self, new: NewStack, tenant: str, user: str | None = None
    ) -> tuple[Stack, list[previewing.Planned]]:
        """Return the stack that `create` would store, and what would be in it."""
        stack, definition = self._asked(new, tenant, user, {})
        return stack, previewing.creation(self._parts, stack, definition)

    def preview_update(
        self, name: str, tenant: str | None, new: NewStack, nested: bool = False
    ) -> Mapping[str, Sequence[previewing.Planned]]:
        """Return what `update` would do: unchanged, updated, replaced, added, deleted.

        :param nested: of the stacks in it, too
        """
        stack = self._store.find_stack(name, tenant)
        before = self._store.get_definition(stack.definition_id)
        definition = merging.updated(before, new)
        asking.check_update(self._parts, stack, before, definition)
        return previewing.update(self._parts, stack, definition, nested)

    def validate(self, new: NewStack, nested: bool = False) -> dict[str, Any]:
        """Check a template, whose parameters need no values; return what it takes.

        :param nested: tell of the templates of its resources, too
        :returns: as `POST /validate` answers
        :raises StackValidationFailed: with all problems
        """
        definition = merging.definition(new)
        return asking.described(self._parts, definition, nested)

    @again_on_conflict
    def abandon(self, name: str, tenant: str | None) -> dict[str, Any]:
        """Forget a stack and leave its resources where they are.

        :returns: what a later `create` takes to adopt them
        """
        stack = self._store.find_stack(name, tenant)
        now = self._clock.now()
        with self._store.transaction() as tx:
            tree = Tree.of(stack.id or 0, tx.lock_tree(stack.root_id or 0))
            guarding.check(tree, states.ABANDON)
            every = [tree.stack, *tree.below]
            rows = tx.resources_of([s.id or 0 for s in every])
            exported = merging.exported(self._store, tree.stack, every, rows)
            left = State(states.DELETE, states.COMPLETE, 'Stack abandoned')
            gone = [s.at(left, deleted_at=now, updated_at=now) for s in every]
            tx.save_resources([row.evolve(deleted_at=now) for row in rows])
            tx.save_stacks(gone)
            tx.add_events(
                [
                    facts.stack_event(before, after, now)
                    for before, after in zip(every, gone, strict=True)
                ]
            )
        self._tell(None, commands.EventsStored())
        return exported
