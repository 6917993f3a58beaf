"""Resources of one host, claimed by a worker of another one."""

from typing import Any

from tests.stack_worlds import (
    ExternalResources,
    StackWorld,
    StackWorldCase,
    res,
    sample,
)
from watcherlite import exceptions
from watcherlite.db.api import Worker
from watcherlite.domain.resource_results import Ready
from watcherlite.states import stack as states

LONG = 3600
HANDED_ON = 'Handed on to host-1, where its target is.'


class HostsCase(StackWorldCase):
    """The first worker is on host-0, and all resources are on host-1."""

    def setUp(self):
        super().setUp()
        self.external = ExternalResources()
        #: The number of lookups that find nothing.
        self.unseen = LONG

    def create_world(self, **members: Any) -> StackWorld:
        """Return a world whose resources are visible to the next worker of host-1."""

        def host(handler, physical_id, data):
            return 'host-1' if physical_id else None

        def check(handler, context):
            self.external.record_call('look', context.resource_name)
            self.unseen -= 1
            if self.unseen >= 0:
                raise exceptions.StateUnknown('it is on host-1')
            return Ready(context.physical_id)

        def find(handler, context):
            self.external.record_call('find', context.resource_name)
            return Ready(context.physical_id)

        kind = type(
            'Homed',
            (sample(self.external),),
            {
                'idempotent': False,
                'host': host,
                'find': find,
                'check': check,
                'poll': lambda handler, context, operation, token: check(
                    handler, context
                ),
                **members,
            },
        )
        world = self.create_stack_world({'Homed': kind}, sweep_interval=LONG)
        world.worker()
        return world

    def register_other_host(self, world: StackWorld) -> None:
        """Store a worker of host-1 that has claimed nothing."""
        world.store.register_worker(Worker('w', 'host-1', 'i', ('engine',)), LONG)

    def wait_until_handed_over(self, world: StackWorld) -> None:
        world.wait_until(
            lambda: HANDED_ON in {a.status_message for a in world.store.list_actions()}
        )


class TestCreation(HostsCase):
    def test_the_worker_of_its_host_finds_the_started_operation(self):
        world = self.create_world()
        self.register_other_host(world)
        stack = world.start_creation({'a': res('Homed', wait=1)})
        self.wait_until_handed_over(world)

        world.worker()

        self.assertEqual('CREATE_COMPLETE', world.wait_until_settled(stack).state.name)
        self.assertEqual({'a': 'CREATE_COMPLETE'}, world.states(stack))
        self.assertEqual(
            [('create', 'a'), ('look', 'a'), ('find', 'a')], self.external.calls
        )

    def test_an_operation_without_a_worker_of_its_host_is_polled_again(self):
        self.unseen = 2
        world = self.create_world()

        stack = world.make({'a': res('Homed', wait=1)})

        self.assertEqual({'a': 'CREATE_COMPLETE'}, world.states(stack))
        self.assertEqual([('create', 'a'), *[('look', 'a')] * 3], self.external.calls)

    def test_an_operation_that_cannot_be_repeated_is_not_forwarded(self):
        self.unseen = 2
        world = self.create_world(find=sample(self.external).find)
        self.register_other_host(world)

        stack = world.make({'a': res('Homed', wait=1)})

        self.assertEqual({'a': 'CREATE_COMPLETE'}, world.states(stack))
        self.assertEqual(['a'], self.external.of('create'))


class TestCheck(HostsCase):
    def test_an_inconclusive_check_keeps_a_failure(self):
        world = self.create_world()
        stack = world.make({'a': res('Homed')})
        self.unseen = 0
        self.external.fails.add(('look', 'a'))
        world.act(stack, states.CHECK)
        failed = world.resource(stack, 'a').state

        self.external.fails.clear()
        self.unseen = 2
        resource_states = []
        for _ in range(3):
            world.act(stack, states.CHECK)
            resource_states.append(world.resource(stack, 'a').state)

        self.assertEqual('CHECK_FAILED', failed.name)
        unknown = (
            f'{failed.reason}; its state is unknown since: it is on host-1',
            'CHECK_FAILED',
        )
        self.assertEqual(
            [unknown, unknown, ('state changed', 'CHECK_COMPLETE')],
            [(state.reason, state.name) for state in resource_states],
        )

    def test_an_inconclusive_check_changes_only_the_reason(self):
        world = self.create_world()
        stack = world.make({'a': res('Homed')})

        world.act(stack, states.CHECK)

        state = world.resource(stack, 'a').state
        self.assertEqual('CHECK_COMPLETE', state.name)
        self.assertEqual('Its state is unknown: it is on host-1', state.reason)
