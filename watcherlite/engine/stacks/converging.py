"""Making a resource what its definition says."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.db.api import Transaction
from watcherlite.domain import change
from watcherlite.domain.handling import KEEP, REPLACE, UPDATE
from watcherlite.domain.stacks import Resource
from watcherlite.engine.patience import patiently
from watcherlite.engine.stacks import expansion, facts
from watcherlite.engine.stacks.working import Working
from watcherlite.plugins.base import NestedHandler, ResourceHandler
from watcherlite.states import stack as states
from watcherlite.states.stack import State

#: What is there already becomes it: see `decision`.
ADOPT = states.ADOPT
REPLACED = 'It replaces {}'


def decision(
    row: Resource,
    handler: ResourceHandler,
    handler_name: str,
    wanted: Mapping[str, Any],
    external_id: str | None = None,
) -> str:
    """Return KEEP, UPDATE, REPLACE or ADOPT for a resource that has been made.

    :param handler: of the definition that it is to fit, by its name
    :param wanted: the properties that it is to fit
    :param external_id: of what is there and neither changed nor deleted
    :raises Invalid: the change is not possible at all
    """
    if row.handler != handler_name:
        return REPLACE
    if external_id is not None:
        if row.made and row.physical_id != external_id:
            return REPLACE
        return ADOPT if row.base.failed or not row.made else KEEP
    if isinstance(handler, NestedHandler):
        # Its members decide for themselves, unless it is marked as a whole.
        if row.under_mark is not None or not row.made:
            return REPLACE
        if row.definition_id is None:
            # It was begun and has never fitted anything: its members go on.
            return UPDATE
        declared = handler.properties
        names = change.changed(row.properties, wanted)
        fixed = [n for n in names if n in declared and not declared[n].updatable]
        return REPLACE if fixed else UPDATE
    decided = handler.decide(row.properties, wanted, row.base.failed)
    if decided == UPDATE and not handler.supports('update'):
        return REPLACE if handler.replaces_failed else KEEP
    return decided


def is_new(row: Resource) -> bool:
    """Say whether it has to be made: never was, or a lost worker began to."""
    return row.base.action == states.INIT or row.base.name == 'CREATE_IN_PROGRESS'


class Converging:
    """One resource on its way to a definition."""

    def __init__(self, work: Working) -> None:
        self._work = work

    @property
    def is_new(self) -> bool:
        """See the function."""
        return is_new(self._work.row)

    def decision(self, wanted: Mapping[str, Any]) -> str:
        """See the function."""
        work = self._work
        return decision(
            *(work.row, work.handler, work.inputs.handler, wanted, work.external_id)
        )

    def wanted(self) -> dict[str, Any]:
        """Return the properties that it is to fit."""
        work = self._work
        values = work.blueprint.properties(work.row.name, work.references)
        if work.external_id is not None:
            # Nothing is made of them: they need not be there.
            return values
        fitted = work.parts.handlers.fit_properties(work.handler, values)
        work.handler.validate(fitted)
        return fitted

    def outputs(self, properties: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the outputs of one that fits as it is.

        :param properties: that it has; None: those of what is worked on
        """
        work = self._work
        metadata = work.blueprint.metadata(work.row.name, work.references)
        had = work.row.properties if properties is None else properties
        return work.fitting(had, metadata)

    def restored(self, wanted: Mapping[str, Any]) -> Resource | None:
        """Put back what this one replaced, if that fits and still exists.

        So a rollback ends with what there was before, as it was, and not with what
        took its place or with a third one.
        """
        if not self._work.inputs.undo:
            return None
        for older in self._work.older:
            if not older.made or older.base.action == states.DELETE:
                continue
            if older.handler != self._work.inputs.handler:
                continue
            if change.changed(older.properties, wanted):
                continue
            self._exchange(lambda tx, row, older=older: older)
            return older
        return None

    def superseded(self) -> Working:
        """Store what is to replace this one; return it as what is worked on."""
        row = self._exchange(self._insert)
        return dataclasses.replace(self._work, row=row)

    def _insert(self, tx: Transaction, row: Resource) -> Resource:
        now = self._work.action.now()
        new = expansion.new_row(self._work.stack, self._work.blueprint, row.name, now)
        state = State(states.CREATE, states.IN_PROGRESS, REPLACED.format(row.uuid))
        (row_id,) = tx.insert_resources([new.at(state)])
        made = new.at(state).evolve(id=row_id)
        tx.add_events([facts.resource_event(new.evolve(id=row_id), made, now)])
        return made

    def _exchange(self, choose: Any) -> Resource:
        """Let another row stand for the resource, in a transaction of its own.

        :param choose: (transaction, row) -> the row that takes its place
        """
        work = self._work

        def written() -> Resource:
            with work.parts.store.transaction() as tx:
                tx.lock_stacks([work.inputs.stack])
                rows = tx.resources_by_id([work.row.id or 0])
                row = rows.get(work.row.id or 0, work.row)
                chosen: Resource = choose(tx, row).evolve(superseded_by=None)
                tx.save_resources([row.evolve(superseded_by=chosen.id), chosen])
                return chosen

        return patiently(
            work.action, f'The replacement of resource {work.row.uuid}', written
        )
