"""Assertions about the guarantees for stacks."""

import contextlib
from typing import TYPE_CHECKING, Any

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res
from watcherlite import exceptions
from watcherlite.db.query import EventQuery
from watcherlite.domain import events
from watcherlite.domain.stacks import Resource, Stack

if TYPE_CHECKING:
    Base = StackWorldCase
else:
    # The mixin precedes the real base class.
    Base = object

#: Resources that every worker can create.
PLAIN: dict[str, Any] = {
    'a': res(value='1'),
    'b': res(value={'get_attr': ['a', 'output']}),
    'slow': res(wait=2),
    'g': res('Group', count=2),
}

#: One of these states may replace another one, which is also notified.
SUPERSEDED = ('UPDATE_IN_PROGRESS', 'ROLLBACK_IN_PROGRESS', 'DELETE_IN_PROGRESS')


class PromiseCase(Base):
    """Assertions that must hold at the end of each test."""

    # Nothing is lost, created twice or notified twice.

    def assert_complete(self, world: StackWorld, stack: Stack) -> None:
        """Check that everything has ended, and that the events are complete."""
        report = world.full_report()
        self.assertEqual([], world.unfinished(), report)
        stacks = self.all_stacks_of_tree(world, stack)
        live = [one for one in stacks if one.deleted_at is None]
        rows = world.store.list_resources([s.id for s in live], superseded=True)
        busy = [one.name for one in (*stacks, *rows) if one.state.busy]
        self.assertEqual([], busy, report)
        self.assert_events_match_states(world, stacks, rows)

    def all_stacks_of_tree(self, world: StackWorld, stack: Stack) -> list[Stack]:
        """Return a stack and all its nested stacks, including deleted ones."""
        uuids = {
            event.detail['physical_id']
            for event in (e.event for e in self.stack_events(world, [stack]))
            if event.subject == events.RESOURCE
            and event.detail
            and event.detail.get('physical_id')
        }
        inside: list[Stack] = []
        for uuid in sorted(uuids):
            with contextlib.suppress(exceptions.StackNotFound):
                inside.append(world.store.find_stack(uuid, TENANT, deleted=True))
        return [world.reload(stack), *inside]

    def stack_events(self, world: StackWorld, stacks: list[Stack]) -> Any:
        """Return the events of stacks and of their resources, in order."""
        ids = [one.id for one in stacks]
        return world.store.list_stack_events(
            EventQuery({'stack_id': ids}, descending=False)
        )

    def assert_events_match_states(
        self, world: StackWorld, stacks: list[Stack], rows: list[Resource]
    ) -> None:
        """Check that each change of state has exactly one event."""
        # Computed once, since the report is long.
        report = world.full_report()
        last: dict[Any, str | None] = {}
        uuids = []
        for stored in self.stack_events(world, stacks):
            event = stored.event
            uuids.append(event.uuid)
            key = (event.detail or {}).get('uuid') or event.subject_id
            if event.kind not in (events.CREATED, events.STATE_CHANGED):
                continue
            if key in last:
                self.assertEqual(last[key], event.old_status, report)
            if event.new_status not in SUPERSEDED:
                self.assertNotEqual(event.old_status, event.new_status, report)
            last[key] = event.new_status
        self.assertEqual(len(uuids), len(set(uuids)))
        now: dict[Any, str] = {one.id: one.state.name for one in stacks}
        now |= {row.uuid: row.state.name for row in rows}
        for key, state in now.items():
            if state != 'INIT_COMPLETE':
                self.assertEqual(state, last.get(key), report)
