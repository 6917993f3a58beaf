"""The checks of `test_promises_stacks`."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res
from watcherlite import exceptions
from watcherlite.db.query import EventQuery
from watcherlite.domain import events
from watcherlite.domain.resource_results import Property, Ready
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.plugins import base

if TYPE_CHECKING:
    Base = StackWorldCase
else:
    # Mixed in before the real one.
    Base = object

#: Enough of everything: a chain, one of a type that must not be begun twice, one
#: that is not made at once, and two groups.
BEFORE: dict[str, Any] = {
    'a': res(value='1'),
    'b': res(value={'get_attr': ['a', 'output']}),
    'once': res('Once', _depends_on=['a']),
    'slow': res(wait=2),
    'g': res('Group', count=2),
    'gone': res(_depends_on=['b']),
    'end': res(value={'get_resource': 'once'}, _depends_on=['b', 'g']),
}
#: Less, for what does the same thing to each.
FEW: dict[str, Any] = {
    'a': res(value='1'),
    'once': res('Once', _depends_on=['a']),
    'g': res('Group', count=1),
    'end': res(_depends_on=['once', 'g']),
}
#: In place, replaced, added, removed; a group grows.
AFTER: dict[str, Any] = {
    **{name: one for name, one in BEFORE.items() if name != 'gone'},
    'a': res(value='2'),
    'b': res(value={'get_attr': ['a', 'output']}, fixed='f'),
    'once': res('Once', size=2, _depends_on=['a']),
    'slow': res(wait=1, value='slower'),
    'g': res('Group', count=3, value='changed'),
    'new': res('Once', _depends_on=['b']),
}
#: Likewise of the few, and what comes last is to be one that cannot be made.
FAILING: dict[str, Any] = {
    'a': res(value='2'),
    'once': res('Once', size=2, _depends_on=['a']),
    'g': res('Group', count=2),
    'end': res(fixed='f', _depends_on=['once', 'g']),
    'breaks': res(_depends_on=['end']),
}

#: One of these may take the place of another one, which is told as well.
SUPERSEDED = ('UPDATE_IN_PROGRESS', 'ROLLBACK_IN_PROGRESS', 'DELETE_IN_PROGRESS')


class Factory:
    """Makes things that nobody can make twice, and says which there are."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Where whoever has made something waits before it says so.
        self.gate: Callable[..., Any] = bool
        self.made: list[str] = []
        self.present: set[str] = set()

    def once(self) -> type[base.ResourceHandler]:
        """Return a handler of things that are found by the uuid of their resource."""
        factory = self

        class Once(base.ResourceHandler):
            properties: ClassVar[Mapping[str, Property]] = {
                'size': Property({'type': 'integer'})
            }

            def create(self, context: base.ResourceContext) -> Any:
                factory.make(context.uuid)
                factory.gate()
                return Ready(context.uuid)

            def find(self, context: base.ResourceContext) -> Any:
                return Ready(context.uuid) if context.uuid in factory.present else None

            def delete(self, context: base.ResourceContext) -> Any:
                factory.present.discard(context.physical_id or '')

        return Once

    def make(self, key: str) -> None:
        """Make a thing."""
        with self._lock:
            self.made.append(key)
            self.present.add(key)


#: What every worker can make.
PLAIN: dict[str, Any] = {name: BEFORE[name] for name in ('a', 'b', 'slow', 'g')}


class PromiseCase(Base):
    """Worlds, and what is true of each when all is over."""

    def a_factory_world(self, **settings: Any) -> tuple[StackWorld, Factory]:
        """Return a world with things that nobody can make twice."""
        factory = Factory()
        keys = {'lease': 60.0, 'sweep_interval': 0.2, **settings}
        world = self.a_stack_world({'Once': factory.once()}, **keys)
        return world, factory

    # nothing is lost, nothing made twice, nothing told twice

    def assert_whole(self, world: StackWorld, stack: Stack) -> None:
        """Check that all is over, and that events tell one whole story of it."""
        report = world.happened()
        self.assertEqual([], world.unfinished(), report)
        stacks = self.tree_ever(world, stack)
        live = [one for one in stacks if one.deleted_at is None]
        rows = world.store.list_resources([s.id for s in live], superseded=True)
        busy = [one.name for one in (*stacks, *rows) if one.state.busy]
        self.assertEqual([], busy, report)
        self.assert_told_once(world, stacks, rows)

    def tree_ever(self, world: StackWorld, stack: Stack) -> list[Stack]:
        """Return a stack and all that ever were in it, deleted ones too."""
        uuids = {
            event.detail['physical_id']
            for event in (e.event for e in self.told(world, [stack]))
            if event.subject == events.RESOURCE
            and event.detail
            and event.detail.get('physical_id')
        }
        inside: list[Stack] = []
        for uuid in sorted(uuids):
            with contextlib.suppress(exceptions.StackNotFound):
                inside.append(world.store.find_stack(uuid, TENANT, deleted=True))
        return [world.now(stack), *inside]

    def told(self, world: StackWorld, stacks: list[Stack]) -> Any:
        """Return the events of stacks and of what is in them, in order."""
        ids = [one.id for one in stacks]
        return world.store.list_stack_events(
            EventQuery({'stack_id': ids}, descending=False)
        )

    def assert_told_once(
        self, world: StackWorld, stacks: list[Stack], rows: list[Resource]
    ) -> None:
        """Check that each change of state is one event, and each event a change."""
        # Once: it is long.
        report = world.happened()
        last: dict[Any, str | None] = {}
        uuids = []
        for stored in self.told(world, stacks):
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

    def assert_world_outside(
        self, world: StackWorld, factory: Factory, stack: Stack
    ) -> None:
        """Check that what there is outside is what the stacks have."""
        live = [one for one in self.tree_ever(world, stack) if one.deleted_at is None]
        rows = world.store.list_resources([s.id for s in live], superseded=True)
        own = {row.physical_id for row in rows if row.nested_id is None and row.made}
        present = set(world.outside.things) | factory.present
        self.assertEqual(own, present, world.happened())
        # Each of them was made for one resource, and none for it again.
        self.assertEqual(sorted(set(factory.made)), sorted(factory.made))
