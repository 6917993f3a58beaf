"""Convergence of a resource to its definition."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.db.api import Transaction
from watcherlite.domain import resource_results
from watcherlite.domain.outcomes import Failed
from watcherlite.domain.resource_results import KEEP, REPLACE, UPDATE
from watcherlite.domain.stacks import Resource
from watcherlite.domain.templates import resource_rules
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.domain.templates.definitions import RETAIN
from watcherlite.engine.stacks.action_inputs import REASON, RESTRICTED
from watcherlite.engine.stacks.actions import expansion
from watcherlite.engine.stacks.actions.resource_operation import ResourceOperation
from watcherlite.engine.stacks.projection import stack_events
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import NestedHandler, ResourceHandler
from watcherlite.states import stack as states
from watcherlite.states.stack import State

#: The decision to take over an existing resource, see `decide`.
ADOPT = states.ADOPT
#: Decision -> the action that an environment restricts.
_RESTRICTED = {UPDATE: resource_rules.UPDATE, REPLACE: resource_rules.REPLACE}
REPLACES = 'It replaces {}'
REPLACED = 'It is replaced by {}'


def decide(
    row: Resource,
    handler: ResourceHandler,
    handler_name: str,
    properties: Mapping[str, Any],
    external_id: str | None = None,
) -> str:
    """Return KEEP, UPDATE, REPLACE or ADOPT for a resource that exists.

    :param handler: the handler of the definition, by its name
    :param properties: of the definition
    :param external_id: of an external resource, which is never changed or deleted
    :raises Invalid: the change is impossible
    """
    if row.handler != handler_name:
        return REPLACE
    if external_id is not None:
        if row.exists and row.physical_id != external_id:
            return REPLACE
        return ADOPT if row.base.failed or not row.exists else KEEP
    if isinstance(handler, NestedHandler):
        # Its members converge by themselves, unless it is marked as a whole.
        if row.under_mark is not None or not row.exists:
            return REPLACE
        if row.definition_id is None:
            # Its creation was interrupted: its members continue.
            return UPDATE
        declared = handler.properties
        names = resource_results.changed(row.properties, properties)
        fixed = [n for n in names if n in declared and not declared[n].updatable]
        return REPLACE if fixed else UPDATE
    decided = handler.decide(row.properties, properties, row.base.failed)
    if decided == UPDATE and not handler.supports('update'):
        return REPLACE if handler.replaces_failed else KEEP
    return decided


def external_change(
    row: Resource,
    handler_name: str,
    external_id: str | None,
    find: Callable[[int], Blueprint],
) -> str | None:
    """Return why the external id of a resource cannot change, None if it does not.

    A managed resource does not become external, nor the reverse: the resource that the
    stack would leave or delete may be in use. One that is replaced because of its type,
    or whose adoption failed, may have another id.

    :param handler_name: of the new definition, as well as the external id
    :param find: returns the blueprint of a definition of the stack by id
    """
    adopted = row.base.name != 'ADOPT_FAILED'
    if not row.exists or not adopted or row.handler != handler_name:
        return None
    before = None
    # The definition of an external resource has no other policy.
    if row.definition_id is not None and row.deletion_policy == RETAIN:
        definition = find(row.definition_id).resources.get(row.name)
        before = None if definition is None else definition.external_id
    if before == external_id:
        return None
    what = f'Update to property external_id of {row.name} ({row.type})'
    return f'{what} is not supported.'


def is_new(row: Resource) -> bool:
    """Return whether it must be created: never was, or its worker was lost."""
    return row.base.action == states.INIT or row.base.name == 'CREATE_IN_PROGRESS'


class Convergence:
    """The convergence of one resource to its definition."""

    def __init__(self, work: ResourceOperation) -> None:
        self._work = work

    def decide(self, properties: Mapping[str, Any]) -> str:
        """Return KEEP, UPDATE, REPLACE or ADOPT, see `decide`."""
        work = self._work
        return decide(
            work.row, work.handler, work.inputs.handler, properties, work.external_id
        )

    def restriction(self, decided: str) -> Failed | None:
        """Return the failure of a decision that the environment forbids, or None.

        The resource stays as it is. A rollback is not restricted.
        """
        work, action = self._work, _RESTRICTED.get(decided)
        restricted = work.blueprint.rules.restricted_actions(work.row.name)
        if action not in restricted or work.is_rollback:
            return None
        reason = f'{action} is restricted for resource.'
        return Failed(reason, outputs={REASON: reason, RESTRICTED: True})

    def external_change(self) -> Failed | None:
        """Return the failure of a change of the external id, or None.

        The resource stays as it is.
        """
        work = self._work
        reason = external_change(
            work.row,
            work.inputs.handler,
            work.external_id,
            lambda key: work.retry(
                lambda: work.services.blueprints.by_id(work.stack, key)
            ),
        )
        if reason is None:
            return None
        return Failed(reason, outputs={REASON: reason, RESTRICTED: True})

    def target_properties(self) -> dict[str, Any]:
        """Return the properties that the definition gives the resource."""
        work = self._work
        values = work.blueprint.properties(work.row.name, work.references)
        if work.external_id is not None:
            # Its handler never uses them: they may be incomplete.
            return values
        fitted = work.services.handlers.fit_properties(work.handler, values)
        work.handler.validate(fitted)
        return fitted

    def outputs(self, properties: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the outputs of a resource that needs no change.

        :param properties: None: those that it has
        """
        work = self._work
        metadata = work.blueprint.metadata(work.row.name, work.references)
        if properties is None:
            properties = work.row.properties
        return work.definition_outputs(properties, metadata)

    def restore(self, properties: Mapping[str, Any]) -> Resource | None:
        """Put back the row that this one replaced, if it fits and still exists.

        A rollback then ends with the resource that there was before, instead of its
        replacement or a third one.
        """
        if not self._work.inputs.undo:
            return None
        for older in self._work.older:
            if not older.exists or older.base.action == states.DELETE:
                continue
            if older.handler != self._work.inputs.handler:
                continue
            if resource_results.changed(older.properties, properties):
                continue
            return self._replace_row(properties, older)
        return None

    def supersede(self, properties: Mapping[str, Any]) -> ResourceOperation:
        """Store the row that replaces this one; return the operation on it."""
        row = self._replace_row(properties)
        return dataclasses.replace(self._work, row=row)

    def _replace_row(
        self, properties: Mapping[str, Any], older: Resource | None = None
    ) -> Resource:
        """Let another row take the place of this one, in a transaction of its own.

        :param older: None: a new row with these properties
        """
        work = self._work
        action_id = work.action_id()

        def store() -> Resource:
            with work.services.store.transaction() as tx:
                tx.lock_stacks([work.inputs.stack])
                # A row that a worker without the action inserts now would remain in
                # progress, or be a second one of the same name.
                work.check_attempt(tx, action_id)
                rows = tx.resources_by_id([work.row.id])
                row = rows.get(work.row.id, work.row)
                chosen = older or self._insert(tx, row, properties)
                chosen = chosen.evolve(superseded_by=None)
                replaced = self._settle(tx, row, chosen)
                tx.save_resources([replaced.evolve(superseded_by=chosen.id), chosen])
                return chosen

        what = f'The replacement of resource {work.row.uuid}'
        return retry_while_unavailable(work.action, what, store)

    def _settle(self, tx: Transaction, row: Resource, chosen: Resource) -> Resource:
        """Return the replaced row, FAILED if it is in progress.

        The action continues with the other row. If the operation on the stack ends
        before the replaced one is deleted, nothing else would end its state.
        """
        if not row.state.busy:
            return row
        action = row.action if row.under_mark is None else states.CHECK
        state = State(action, states.FAILED, REPLACED.format(chosen.uuid))
        now = self._work.action.now()
        settled = row.at(state, under_lock=None, updated_at=now)
        tx.add_events(stack_events.state_changes(row, settled, now))
        return settled

    def _insert(
        self, tx: Transaction, row: Resource, properties: Mapping[str, Any]
    ) -> Resource:
        work, now = self._work, self._work.action.now()
        new = expansion.new_row(work.stack.id, work.blueprint, row.name, now)
        if not isinstance(work.handler, NestedHandler):
            outputs = self.outputs(properties)
            new = new.evolve(**{**outputs, 'requires': tuple(outputs['requires'])})
        state = State(states.CREATE, states.IN_PROGRESS, REPLACES.format(row.uuid))
        (row_id,) = tx.insert_resources([new.at(state)])
        before = new.stored(row_id)
        created = before.at(state)
        tx.add_events([stack_events.resource_event(before, created, now)])
        return created
