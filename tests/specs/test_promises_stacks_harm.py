"""The guarantees for stacks: broken handlers, and rejected requests."""

import contextlib
from collections.abc import Callable
from typing import Any, cast

from tests.functional.db.stores import POSTGRESQL, define_tests
from tests.specs.database_case import OnDatabase
from tests.specs.stack_promises import PLAIN, PromiseCase
from tests.stack_worlds import (
    TENANT,
    HandlerError,
    Nothing,
    StackWorld,
    StackWorldCase,
    res,
)
from watcherlite import exceptions
from watcherlite.domain.resource_results import Ready, ResourceInProgress
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.plugins import base
from watcherlite.states import stack as states


class HarmlessPromises(PromiseCase):
    """The suite; `make_store` returns the store."""

    # A broken handler harms only its own resource.

    def test_a_missing_broken_slow_or_hostile_handler_fails_only_its_resource(
        self,
    ) -> None:
        gate = self.create_gate()
        hostile = _hostile(gate)
        world = self.create_stack_world(
            {**hostile, 'missing': hostile['invalid']}, limits=StackLimits(timeout=2)
        )
        resources = {name: res(name) for name in (*hostile, 'missing')}
        fine = {'x': res(), 'y': res(_depends_on='x'), 'g': res('Group', count=2)}
        stack = world.start_creation({**resources, **fine})
        without = StackWorld(
            world.store, hostile, limits=StackLimits(timeout=2), max_parallel=3
        )
        self.addCleanup(without.stop)
        self.addCleanup(gate.open)
        # The clock stands still until the resources of working handlers have been
        # created.
        without.clock.pause()
        without.worker()
        without.wait_until(
            lambda: (
                fine.keys()
                <= {
                    n
                    for n, s in without.states(stack).items()
                    if s == 'CREATE_COMPLETE'
                }
            ),
            without.full_report,
        )
        without.clock.resume()
        stack = without.wait_until_settled(stack)
        self.assertEqual('CREATE_FAILED', stack.state.name, without.full_report())
        found = without.states(stack)
        for name in fine:
            self.assertEqual('CREATE_COMPLETE', found.pop(name), without.full_report())
        self.assertEqual(dict.fromkeys(resources, 'CREATE_FAILED'), found)
        for name in resources:
            self.assertIn(f'resources.{name}: ', stack.status_reason)
            self.assertNotEqual('', without.resource(stack, name).status_reason)
        self.assert_complete(without, stack)
        without.clock.pause()
        other = without.make(fine, name='still-alive')
        self.assertEqual('CREATE_COMPLETE', other.state.name)

    def test_a_failure_with_a_secret_is_reported_by_its_class_only(self) -> None:
        class Leaks(Nothing):
            def create(self, context: base.ResourceContext) -> Any:
                raise OSError('password=hunter2')

        world = self.create_stack_world({'Leaks': Leaks})
        stack = world.make({'x': res('Leaks')})
        row = world.resource(stack, 'x')
        for text in (stack.status_reason, row.status_reason, str(world.full_report())):
            self.assertNotIn('hunter2', text)
        self.assertIn('OSError', row.status_reason)

    # Every rejected request changes nothing.

    def test_every_refusal_has_a_reason_and_changes_nothing(self) -> None:
        world = self.create_stack_world()
        stack = world.make(PLAIN)
        stacks, uuid = world.stacks, stack.uuid
        missing = '00000000-0000-4000-8000-000000000000'
        act, cancel, mark = stacks.start_operation, stacks.cancel, stacks.mark_unhealthy
        circle = {'x': res(_depends_on='y'), 'y': res(_depends_on='x')}
        refusals: list[tuple[type[Exception], str, Callable[..., Any], Any]] = []
        # A stack of another project is not found.
        for name, tenant in ((missing, TENANT), (uuid, 'another-project')):
            for operation in (states.CHECK, states.DELETE, states.LOCK):
                asked = (name, tenant, operation)
                refusals.append((exceptions.StackNotFound, name, act, asked))
            asked = (name, tenant, 'a', True)
            refusals.append((exceptions.StackNotFound, name, mark, asked))
        unknown = 'There is no resource handler Nobody'
        suspended = 'only a suspended stack can be resumed'
        unsupported = exceptions.NotSupported
        refusals += [
            (exceptions.StackExists, 's', world.start_creation, (PLAIN,)),
            (exceptions.Conflict, 'is not locked', act, (uuid, TENANT, states.UNLOCK)),
            (unsupported, suspended, act, (uuid, TENANT, states.RESUME)),
            (unsupported, 'nothing to cancel', cancel, (uuid, TENANT, True)),
            (
                exceptions.Invalid,
                unknown,
                world.start_update,
                (stack, {'x': res('Nobody')}),
            ),
            (
                exceptions.Invalid,
                'y needs x needs y',
                world.start_update,
                (stack, circle),
            ),
            (exceptions.ResourceNotFound, 'nothing', world.mark, (stack, 'nothing')),
        ]
        before = self.all_of(world, stack)
        for error, text, call, arguments in refusals:
            refusal = self.assertRaises(error, call, *arguments)
            self.assertIn(text, str(refusal))
        self.assertEqual(before, self.all_of(world, stack))

    def all_of(self, world: StackWorld, stack: Stack) -> Any:
        """Return everything that is stored about a stack."""
        return (
            world.reload(stack),
            world.store.list_resources([stack.id]),
            world.store.list_actions(limit=1000),
            world.store.list_events(limit=1000),
        )


def _hostile(gate: Callable[..., Any]) -> dict[str, type[base.ResourceHandler]]:
    """Return handlers that violate their contract."""

    def handler(**hooks: Any) -> type[base.ResourceHandler]:
        own = {'idempotent': True, 'delete': lambda self, context: None, **hooks}
        return type('Hostile', (base.ResourceHandler,), own)

    def unresponsive(self: Any, context: Any) -> Any:
        while not gate():
            with contextlib.suppress(BaseException):
                context.checkpoint()

    def raises(error: BaseException) -> Any:
        def called(self: Any, *arguments: Any) -> Any:
            raise error

        return called

    def returns(value: Any) -> Any:
        return lambda self, *arguments: value

    return {
        'exits': handler(create=raises(SystemExit(1))),
        'interrupts': handler(create=raises(KeyboardInterrupt())),
        'breaks': handler(create=raises(HandlerError('it is broken'))),
        'invalid': handler(create=returns(7)),
        'unstorable': handler(create=returns(Ready(attributes={'x': {1}}))),
        'nameless': handler(create=returns(Ready(physical_id=cast(Any, object())))),
        'surrogate': handler(create=returns(Ready('\ud800 and \0'))),
        'token': handler(create=returns(ResourceInProgress(object(), 0.0))),
        'unpolled': handler(create=returns(ResourceInProgress({}, 0.0))),
        'polls_badly': handler(
            create=returns(ResourceInProgress({}, 0.0)), poll=raises(GeneratorExit())
        ),
        'unresponsive': handler(create=unresponsive),
        'never': handler(
            create=returns(ResourceInProgress({}, 0.0)),
            poll=returns(ResourceInProgress({}, 3600.0)),
            cancel=raises(SystemExit(1)),
        ),
        'unnamed': handler(create=returns(None), reference=raises(SystemExit(1))),
    }


class MemoryHarmlessTest(HarmlessPromises, StackWorldCase):
    """On the in-memory store."""


define_tests(
    __name__,
    HarmlessPromises,
    before=(OnDatabase,),
    after=(StackWorldCase,),
    on=(POSTGRESQL,),
    name='Harmless',
)
