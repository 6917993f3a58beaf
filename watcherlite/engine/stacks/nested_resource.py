"""A resource that is a stack: its action derives operations on that stack."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.handling import REPLACE, Batch, Expansion, Member, Ready
from watcherlite.domain.outcomes import (
    Derived,
    DerivedAction,
    Done,
    Failed,
    InProgress,
    Outcome,
)
from watcherlite.domain.stacks import Definition, Resource, Stack
from watcherlite.engine.patience import patiently
from watcherlite.engine.stacks import inputs as handed_on
from watcherlite.engine.stacks import marking, merging, nesting
from watcherlite.engine.stacks.converging import Converging
from watcherlite.engine.stacks.inputs import CONVERGE, SIGNAL, StackInputs
from watcherlite.engine.stacks.progress import (
    REASON,
    RESTORED,
    UNCHANGED,
    reason_of,
)
from watcherlite.engine.stacks.resolving import RowReferences, blueprint, members_of
from watcherlite.engine.stacks.resource_context import HandlerContext
from watcherlite.engine.stacks.working import Working
from watcherlite.plugins.base import DerivedResult, NestedHandler
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

#: Done to its stack as to itself.
_ALIKE = frozenset(
    {states.CHECK, states.SUSPEND, states.RESUME, states.LOCK, states.UNLOCK}
)


class NestedResource:
    """One step of the action of a resource that is a stack."""

    def __init__(self, work: Working) -> None:
        if not isinstance(work.handler, NestedHandler):
            raise TypeError(f'{work.row.handler} is no stack')
        self._work = work
        self._handler = work.handler

    def execute(self) -> Outcome:
        """Begin."""
        do = self._work.inputs.do
        if do == CONVERGE:
            return self._converge()
        if do == SIGNAL:
            return self._signal()
        if do == states.DELETE:
            return self._delete()
        if do == states.ADOPT:
            return self._expand(self._work, Converging(self._work).wanted(), do)
        if do in _ALIKE:
            return self._derive(do)
        reason = f'{do} is not supported for a resource that is a stack'
        return Failed(reason, outputs={REASON: reason})

    def go_on(self, token: Mapping[str, Any]) -> Outcome:
        """Do what was decided."""
        return self._expand(self._work, token['wanted'], states.UPDATE)

    def complete(self, results: Sequence[DerivedResult]) -> Outcome:
        """Say how it went, by how its stack did."""
        work = self._work
        failed = [r for r in results if r.status == action_states.FAILED]
        # One that comes after a failed one is cancelled, and so is one whose stack
        # somebody has deleted by itself; that one is not locked any more, though.
        if work.inputs.do != states.UNLOCK:
            failed = failed or [
                r for r in results if r.status == action_states.CANCELLED
            ]
        if failed:
            reason = reason_of(failed[-1])
            return Failed(reason, outputs={REASON: reason})
        if work.inputs.do not in (CONVERGE, SIGNAL, states.ADOPT):
            return Done(work.settled(work.inputs.do.lower(), work.context(), Ready()))
        wanted = work.row.properties
        if work.inputs.do != SIGNAL:
            wanted = Converging(work).wanted()
        handed = self._context(work, wanted)
        nested = self._nested()
        if nested is None:
            raise exceptions.NotFound(f'The stack of {work.row.name} is gone')
        rows = work.members(work.row)
        attributes = self._handler.gather(
            handed, self._seen(rows), self._outputs(nested, rows)
        )
        data = self._handler.remember(handed)
        if data is None and work.inputs.do == states.ADOPT:
            data = handed.data
        ready = Ready(nested.uuid, attributes=dict(attributes), data=data)
        return Done(work.settled('create', handed, ready))

    # one thing each

    def _converge(self) -> Outcome:
        work = self._work
        converging = Converging(work)
        wanted = converging.wanted()
        if converging.is_new:
            return self._expand(work, wanted, states.CREATE)
        if converging.restored(wanted) is not None:
            return Done({UNCHANGED: RESTORED, **converging.outputs(wanted)})
        if converging.decision(wanted) != REPLACE and self._is_there():
            action = states.UPDATE
            token = {'action': action, 'attempt': work.action.attempt, 'wanted': wanted}
            return InProgress(token, delay=0.0)
        return self._expand(converging.superseded(), wanted, states.CREATE)

    def _delete(self) -> Outcome:
        row = self._work.row
        if row.nested_id is None or row.deletion_policy != 'Delete':
            return Done({})
        return self._derive(states.DELETE)

    def _derive(self, do: str) -> Outcome:
        """Do to its stack what is done to it."""
        inputs = self._work.inputs
        if self._work.row.nested_id is None:
            return Done({})
        wanted = StackInputs(
            self._work.row.nested_id, do, level=inputs.level, deadline=inputs.deadline
        )
        left = handed_on.patience(inputs.deadline, self._work.action.now())
        return Derived((handed_on.nested('stack', wanted),), left)

    def _signal(self) -> Outcome:
        work = self._work
        if work.row.nested_id is None or work.row.base.status != states.COMPLETE:
            return Done({REASON: f'Ignored: it is {work.row.base.name}'})
        nested = self._nested()
        if nested is None or nested.level is not None:
            return Done({REASON: 'Signal ignored: its stack is locked'})
        rows = work.members(work.row)
        said = Expansion.of(
            self._handler.adjust(
                self._context(work), self._seen(rows), work.inputs.details or {}
            )
        )
        if not said.batches:
            return Done({REASON: said.reason or 'Nothing had to be done'})
        return self._stored(work, said, states.UPDATE)

    def _expand(self, work: Working, wanted: Mapping[str, Any], do: str) -> Outcome:
        """Derive what makes its stack what the properties say."""
        context = self._context(work, wanted)
        if do == states.ADOPT and (there := self._left()) is not None:
            said = Expansion.of(self._handler.adopted(context, there))
        else:
            members: list[Member] = []
            if work.row.nested_id is not None:
                members = self._seen(work.members(work.row))
                do = do if do == states.ADOPT else states.UPDATE
            said = Expansion.of(self._handler.expand(context, members))
        if not said.batches:
            raise exceptions.Invalid(f'{work.row.handler} says nothing of its stack')
        if do == states.ADOPT:
            # All of it is there: there is nothing to do in steps.
            said = dataclasses.replace(said, batches=said.batches[-1:])
        return self._stored(work, said, do)

    # what its handler sees

    def _context(
        self, work: Working, wanted: Mapping[str, Any] | None = None
    ) -> HandlerContext:
        """Return what the handler is handed; `wanted` as for `Working.context`."""
        handed = work.context(wanted)
        if work.inputs.do not in (CONVERGE, states.ADOPT):
            return handed
        policy = work.blueprint.update_policy(work.row.name, work.references)
        handed = dataclasses.replace(handed, update_policy=policy)
        if work.inputs.do == states.ADOPT and not handed.data:
            data = (work.inputs.adopted or {}).get('resource_data') or {}
            handed = dataclasses.replace(handed, data=data)
        return handed

    def _seen(self, rows: Sequence[Resource]) -> list[Member]:
        return self._work.ask(lambda: members_of(self._work.parts.store, rows))

    def _left(self) -> list[Member] | None:
        """Return the members that are there already; None: nobody says which."""
        given = (self._work.inputs.adopted or {}).get('resources')
        if not isinstance(given, Mapping):
            return None
        return [
            Member(
                name,
                str((one.get(merging.DEFINITION) or {}).get('type')),
                states.FAILED if marking.was_unwell(one) else states.COMPLETE,
                one.get('resource_id'),
                str(one.get('resource_id') or name),
                one.get('attributes') or {},
                None,
                one.get(merging.DEFINITION),
            )
            for name, one in given.items()
        ]

    # its stack

    def _stored(self, work: Working, said: Expansion, do: str) -> Outcome:
        """Store what its stack is to be, in turn; derive the operations."""
        around, batches = work.blueprint.definition, said.batches

        wanted = [nesting.definition(batch, around, work.row.name) for batch in batches]

        def written() -> tuple[int, list[Definition]]:
            self._check_room(work, wanted)
            with work.parts.store.transaction() as tx:
                tx.lock_stacks([work.inputs.stack])
                stored = [tx.insert_definition(definition) for definition in wanted]
                return self._made(tx, work, said, stored[0]), stored

        what = f'The stack of resource {work.row.uuid}'
        nested_id, stored = patiently(work.action, what, written)
        derived: list[DerivedAction] = []
        before: tuple[str, ...] = ()
        for at, (batch, definition) in enumerate(zip(batches, stored, strict=True)):
            if at and batch.pause:
                pause = DerivedAction(
                    f'pause:{at}',
                    'sleep',
                    {'duration': batch.pause},
                    parents=before,
                    # However long it is, and not longer than all of it may take.
                    timeout=handed_on.seconds_left(
                        work.inputs.deadline, work.action.now()
                    )
                    or int(batch.pause) + 60,
                )
                derived.append(pause)
                before = (pause.key,)
            inputs = StackInputs(
                nested_id,
                do if at == 0 else states.UPDATE,
                definition=definition.id,
                deadline=_deadline(batch, work),
                adopted=self._adopted(do),
            )
            derived.append(handed_on.nested(f'batch:{at}', inputs, before))
            before = (f'batch:{at}',)
        return Derived(tuple(derived), _patience(batches, work))

    def _check_room(self, work: Working, wanted: Sequence[Definition]) -> None:
        """Refuse what would let the stacks around it become too large."""
        store, limit, row = work.parts.store, work.parts.limits.resources, work.row
        present = 0
        if row.nested_id is not None:
            present = len(store.list_resources([row.nested_id]))
        most = max(len(one.template.get('resources') or ()) for one in wanted)
        if most <= present:
            return
        others = store.count_resources(work.stack.root_id or 0) - present
        if others + most > limit:
            # Not all of them need be: conditions decide.
            inner = nesting.stack_of(work.stack, row, 0, work.action.now())
            most = max(len(blueprint(inner, one).resources) for one in wanted)
        if others + most > limit:
            raise exceptions.RequestLimitExceeded(
                f'{row.name} would have {most} resources, and all stacks around it '
                f'{others + most}; at most {limit} may be together'
            )

    def _adopted(self, do: str) -> Mapping[str, Any] | None:
        """Return what its members are that are there already."""
        if do != states.ADOPT:
            return None
        given = (self._work.inputs.adopted or {}).get('resources')
        return given if isinstance(given, Mapping) else {}

    def _made(
        self, tx: Transaction, work: Working, said: Expansion, definition: Definition
    ) -> int:
        """Return the id of its stack, stored now if there was none."""
        row = tx.resources_by_id([work.row.id or 0])[work.row.id or 0]
        if said.data is not None:
            row = row.evolve(data=dict(said.data))
        if row.nested_id is not None:
            if said.data is not None:
                tx.save_resources([row])
            return row.nested_id
        around, now = work.stack, work.action.now()
        limits = work.parts.limits
        if around.depth + 1 > limits.depth:
            raise exceptions.Invalid(
                f'{row.name} is {around.depth + 1} stacks deep; at most {limits.depth} '
                'may be in each other'
            )
        nested = nesting.stack_of(around, row, definition.id or 0, now)
        # What it is to be is checked before anything of it is made.
        blueprint(nested, definition)
        stored = tx.insert_stack(nested)
        after = row.evolve(nested_id=stored.id, physical_id=stored.uuid)
        tx.save_resources([after])
        return stored.id or 0

    def _nested(self) -> Stack | None:
        nested_id = self._work.row.nested_id
        if nested_id is None:
            return None
        store = self._work.parts.store
        return self._work.ask(lambda: store.stacks_by_id([nested_id])).get(nested_id)

    def _is_there(self) -> bool:
        """Say whether nobody has deleted its stack by itself."""
        nested = self._nested()
        return nested is not None and nested.deleted_at is None

    def _outputs(self, nested: Stack, rows: Sequence[Resource]) -> dict[str, Any]:
        blueprints, wanted = self._work.parts.blueprints, nested.definition_id
        known = self._work.ask(lambda: blueprints.by_id(nested, wanted))
        references = RowReferences({row.name: row for row in rows})
        return {output.key: output.value for output in known.outputs(references)}


def _patience(batches: Sequence[Batch], work: Working) -> float | None:
    """Return how many seconds a resource waits for its stack, see `Derived`."""
    deadline = work.inputs.deadline
    if deadline is not None:
        return handed_on.patience(deadline, work.action.now())
    # Each has a time of its own.
    seconds = sum((b.timeout or work.stack.timeout) + b.pause for b in batches)
    return seconds + handed_on.LATER


def _deadline(batch: Batch, work: Working) -> datetime.datetime | None:
    around = work.inputs.deadline
    if batch.timeout is None:
        return around
    own = work.action.now() + datetime.timedelta(seconds=batch.timeout)
    return own if around is None else min(own, around)
