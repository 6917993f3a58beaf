"""The results of each hook of a resource handler."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res
from watcherlite import exceptions
from watcherlite.domain.resource_results import Property, Ready, ResourceInProgress
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.plugins.base import ResourceHandler
from watcherlite.states import stack as states

#: In an order in which one resource can pass through them.
OPERATIONS = (
    *('create', 'check', 'suspend', 'resume', 'lock', 'unlock', 'signal'),
    *('update', 'delete'),
)


class NoQuotaError(exceptions.WatcherliteError):
    """An exception of a plugin, raised as the contract permits."""


def _hook(operation: str) -> Callable[..., Any]:
    def called(self: Any, *arguments: Any) -> Any:
        self.calls.append(operation)
        return type(self).answer(operation)

    return called


class Scripted(ResourceHandler):
    """A handler with prescribed answers that records its calls and polls."""

    idempotent = True
    properties: ClassVar[Mapping[str, Property]] = {
        'value': Property({'type': 'string'}, updatable=True)
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'output': 'The output of the last operation.'
    }
    answer: ClassVar[Callable[[str], Any]]
    polled: ClassVar[Callable[[str, Any], Any]]
    calls: ClassVar[list[Any]]

    def poll(self, context: Any, operation: str, token: Any) -> Any:
        self.calls.append((operation, token))
        return type(self).polled(operation, token)

    def cancel(self, context: Any, operation: str, token: Any) -> None:
        self.calls.append(('cancelled', operation, token))


def _coroutine(hook: Callable[..., Any]) -> Callable[..., Any]:
    async def called(self: Any, context: Any, *arguments: Any) -> Any:
        async with context.service('outside'):
            return hook(self, context, *arguments)

    return called


def _scripted(
    answer: Callable[[str], Any],
    polled: Callable[[str, Any], Any],
    coroutines: bool = False,
) -> type[Scripted]:
    """Return a handler type with these answers and a list of calls of its own."""
    members: dict[str, Any] = {operation: _hook(operation) for operation in OPERATIONS}
    members |= {'poll': Scripted.poll, 'cancel': Scripted.cancel}
    if coroutines:
        members = {name: _coroutine(hook) for name, hook in members.items()}
    members |= {'answer': staticmethod(answer), 'polled': staticmethod(polled)}
    return type('Recording', (Scripted,), {**members, 'calls': []})


def _failing(
    operation: str, error: Exception, at_once: bool, coroutines: bool
) -> type[Scripted]:
    """Return a handler type whose operation fails, immediately or at a poll."""

    def fail(*arguments: Any) -> None:
        raise error

    def answer(called: str) -> Any:
        if called != operation:
            return None
        return fail() if at_once else ResourceInProgress('token', 0.0)

    return _scripted(answer, fail, coroutines)


class HookCase(StackWorldCase):
    """A stack of one resource whose handler has prescribed answers.

    :cvar coroutines: whether the hooks are coroutines; else functions
    """

    coroutines: ClassVar[bool] = False

    def create_scripted_world(
        self,
        answer: Callable[[str], Any],
        polled: Callable[[str, Any], Any] = lambda operation, token: None,
        **settings: Any,
    ) -> StackWorld:
        handler = _scripted(answer, polled, self.coroutines)
        self.calls = handler.calls
        return self.create_stack_world({'Recording': handler}, **settings)

    def run_all_operations(self, world: StackWorld) -> list[tuple[str, str]]:
        """Execute every operation; return the resulting states."""
        stack = world.make({'a': res('Recording', value='x')})
        results = [('create', world.states(stack)['a'])]
        for operation in OPERATIONS[1:-2]:
            if operation == 'signal':
                world.stacks.signal(stack.uuid, TENANT, 'a', {})
                world.wait_until_settled(stack)
                results.append(('signal', self.last_transition(world, stack)))
                continue
            world.act(stack, operation.upper())
            results.append((operation, world.states(stack)['a']))
        world.change(stack, {'a': res('Recording', value='y')})
        results.append(('update', world.states(stack)['a']))
        ended = world.act(stack, states.DELETE)
        results.append(('delete', ended.state.name))
        return results

    def last_transition(self, world: StackWorld, stack: Stack, of: str = 'a') -> str:
        return [state for name, state in world.transitions(stack) if name == of][-1]


class TestAnswers(HookCase):
    """None and Ready: done. ResourceInProgress: polled again. An exception: failed."""

    def test_each_hook_may_complete_when_it_returns_or_after_polls(self) -> None:
        def pending(operation: str, left: int = 2) -> ResourceInProgress:
            return ResourceInProgress({'of': operation, 'left': left}, 0.0)

        def polled(operation: str, token: Any) -> Any:
            left = token['left'] - 1
            return pending(token['of'], left) if left else None

        ready = Ready(attributes={'output': 'now'}, reason='as it was')
        for answer, polls in (
            (lambda operation: None, []),
            (lambda operation: ready, []),
            (pending, [2, 1]),
        ):
            world = self.create_scripted_world(answer, polled)

            results = self.run_all_operations(world)

            self.assertEqual(
                [(name, f'{name.upper()}_COMPLETE') for name in OPERATIONS], results
            )
            expected: list[Any] = []
            for name in OPERATIONS:
                tokens = ({'of': name, 'left': left} for left in polls)
                expected += [name, *((name, token) for token in tokens)]
            self.assertEqual(expected, self.calls)

    def test_each_hook_may_fail_with_a_reason_or_an_exception_class(self) -> None:
        errors = (NoQuotaError('no quota is left'), ValueError('hunter2'))
        for operation in OPERATIONS:
            with self.subTest(operation):
                handlers = {
                    (f'{type(error).__name__}-{at_once}'): _failing(
                        operation, error, at_once, self.coroutines
                    )
                    for error in errors
                    for at_once in (True, False)
                }
                self.assert_failures(operation, handlers)

    def assert_failures(
        self, operation: str, handlers: Mapping[str, type[Scripted]]
    ) -> None:
        """Execute operations until one fails, and check the failure."""
        world = self.create_stack_world(handlers)
        stack = world.make({name: res(name, value='x') for name in handlers})
        for each in OPERATIONS[1 : OPERATIONS.index(operation) + 1]:
            if each == 'signal':
                for name in handlers:
                    world.stacks.signal(stack.uuid, TENANT, name, {})
                world.wait_until_settled(stack)
            elif each == 'update':
                world.change(stack, {name: res(name, value='y') for name in handlers})
            else:
                world.act(stack, each.upper())
        for name, handler in handlers.items():
            error, _, at_once = name.partition('-')
            row = world.resource(stack, name)
            self.assertEqual(operation, handler.calls[-1 if at_once == 'True' else -2])
            if operation == 'signal':
                # A failed signal does not affect the state of the resource.
                ended = self.last_transition(world, stack, name)
                self.assertEqual('UNLOCK_COMPLETE', row.state.name)
            else:
                ended = row.state.name
                text = 'no quota is left' if error == 'NoQuotaError' else error
                self.assertIn(text, row.status_reason)
            self.assertEqual(f'{operation.upper()}_FAILED', ended)
        self.assertNotIn('hunter2', str(world.full_report()))
        world.stop()

    def test_an_invalid_result_fails_the_resource_by_name(self) -> None:
        world = self.create_scripted_world(lambda operation: 'made')

        stack = world.make({'a': res('Recording')})

        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertIn(
            'Recording returned str from create, which is not a result',
            world.resource(stack, 'a').status_reason,
        )


class TestAnswersOfCoroutines(TestAnswers):
    """The same, for coroutines."""

    coroutines = True


class TestWaiting(HookCase):
    """A resource in progress holds no thread, and can be cancelled."""

    def test_other_actions_run_in_the_only_thread_between_polls(self) -> None:
        there = threading.Event()
        self.addCleanup(there.set)

        def polled(operation: str, token: Any) -> Any:
            return None if there.is_set() else ResourceInProgress(token, 0.02)

        world = self.create_scripted_world(
            lambda operation: ResourceInProgress(
                {'job': 7}, 0.02, 'outside-7', {'kept': True}
            ),
            polled,
        )
        world.worker(max_parallel=1)
        stack = world.start_creation({'a': res('Recording'), 'b': res(), 'c': res()})
        others = dict.fromkeys('bc', 'CREATE_COMPLETE')
        expected = {'a': 'CREATE_IN_PROGRESS', **others}
        world.wait_until(lambda: world.states(stack) == expected, world.full_report)
        row = world.resource(stack, 'a')
        self.assertEqual(('outside-7', {'kept': True}), (row.physical_id, row.data))

        there.set()
        done = world.wait_until_settled(stack)

        self.assertEqual('CREATE_COMPLETE', done.state.name)
        self.assertEqual('create', self.calls[0])
        self.assertEqual(
            {('create', 7)}, {(name, token['job']) for name, token in self.calls[1:]}
        )
        self.assertEqual('outside-7', world.resource(stack, 'a').physical_id)

    def test_a_cancelled_operation_is_stopped(self) -> None:
        for operation in ('create', 'update'):
            world = self.create_scripted_world(
                lambda called, operation=operation: (
                    ResourceInProgress({'of': called}, 3600.0, data={'requested': True})
                    if called == operation
                    else None
                )
            )
            world.worker()
            stack = world.start_creation({'a': res('Recording', value='x')})
            if operation == 'update':
                world.wait_until_settled(stack)
                world.start_update(stack, {'a': res('Recording', value='y')})
            world.wait_until(
                lambda world=world, stack=stack: (
                    [row.data for row in world.store.list_resources([stack.id])]
                    == [{'requested': True}]
                ),
                world.full_report,
            )

            world.stacks.cancel(stack.uuid, TENANT, rollback=False)
            ended = world.wait_until_settled(stack)

            self.assertEqual(f'{operation.upper()}_FAILED', ended.state.name)
            self.assertEqual(
                ('cancelled', operation, {'of': operation}), self.calls[-1]
            )

    def test_an_operation_is_stopped_at_its_timeout_whatever_its_poll_interval(
        self,
    ) -> None:
        world = self.create_scripted_world(
            lambda operation: ResourceInProgress('token', 3600.0),
            limits=StackLimits(timeout=1),
        )

        world.worker()
        world.clock.pause()
        stack = world.start_creation({'a': res('Recording')})
        world.wait_until(lambda: bool(self.calls))
        world.clock.resume()
        stack = world.wait_until_settled(stack)

        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertRegex(
            world.resource(stack, 'a').status_reason,
            'Timed out|longer than its timeout',
        )
        self.assertEqual(['create', ('cancelled', 'create', 'token')], self.calls)


class TestWaitingOfCoroutines(TestWaiting):
    """The same, for coroutines."""

    coroutines = True
