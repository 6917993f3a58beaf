"""Coroutines of plugins in the event loop of a worker."""

import asyncio
import logging
import subprocess
import sys
import threading
from typing import Any

from tests.bounded import TIMEOUT
from tests.factories import make_action
from tests.functional.execution.test_dispatcher import DispatcherCase
from tests.functional.execution.test_log_context import Lines
from tests.unit.execution.test_log_context import request_context
from tests.worlds import Calls, Gate, kind
from watcherlite.domain.outcomes import Done, InProgress
from watcherlite.execution.coroutines import event_loop, loop_thread
from watcherlite.execution.pool import Job, Pool
from watcherlite.states import action as states

PLUGIN = logging.getLogger('acme.plugin')


class Barrier:
    """A hook that waits until a number of coroutines have entered it.

    :ivar most: the largest number of coroutines that were inside at once
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._event: asyncio.Event | None = None
        self._inside = 0
        self.most = 0

    async def __call__(self, context: Any) -> bool:
        if self._event is None:
            self._event = asyncio.Event()
        self._inside += 1
        self.most = max(self.most, self._inside)
        if self._inside == self._count:
            self._event.set()
        await self._event.wait()
        self._inside -= 1
        return True


class CoroutinesCase(DispatcherCase):
    def run_actions(self, count: int, **values: Any) -> None:
        self.create_plan(
            *(
                make_action(name=f'a{n}', action_type='does', **values)
                for n in range(count)
            )
        )
        self.wait_until(lambda: not self.unfinished())

    def unfinished(self) -> int:
        statuses = states.NOT_STARTED | states.STARTED
        return len(self.store.list_actions(statuses=statuses, limit=10_000))

    def statuses(self) -> set[str]:
        return {a.status for a in self.store.list_actions(limit=10_000)}


class WidthTest(CoroutinesCase):
    """The number of coroutines."""

    def test_coroutines_wait_together_beyond_the_threads(self) -> None:
        meeting = Barrier(300)

        async def execute(context: Any) -> bool:
            return await meeting(context)

        self.build({'does': kind(execute=execute)}, max_parallel=1)
        self.run_actions(300)
        self.assertEqual(({'SUCCEEDED'}, 300), (self.statuses(), meeting.most))

    def test_the_number_of_coroutines_is_limited(self) -> None:
        meeting = Barrier(3)

        async def execute(context: Any) -> bool:
            return await meeting(context)

        self.build({'does': kind(execute=execute)}, max_coroutines=3)
        self.run_actions(30)
        self.assertEqual(({'SUCCEEDED'}, 3), (self.statuses(), meeting.most))

    def test_polls_beyond_the_limit_wait_for_their_turn(self) -> None:
        meeting = Barrier(2)

        async def poll(context: Any, token: Any) -> Any:
            await meeting(context)
            return True

        does = kind(execute=lambda context: InProgress(1, 1.0), poll=poll)
        self.build({'does': does}, max_coroutines=2)
        self.create_plan(
            *(make_action(name=f'a{n}', action_type='does') for n in range(6))
        )
        self.wait_until(lambda: self.in_flight.busy == 0 and self.tokens() == 6)
        self.clock.advance(1.0)
        self.timers.run_due()
        self.wait_until(lambda: not self.unfinished())
        self.assertEqual(({'SUCCEEDED'}, 2), (self.statuses(), meeting.most))

    def tokens(self) -> int:
        return sum(a.token is not None for a in self.store.list_actions())

    def test_the_calls_of_coroutines_to_one_service_are_limited(self) -> None:
        meetings = {'a': Barrier(2), 'b': Barrier(2)}

        async def execute(context: Any) -> bool:
            service = context.inputs['service']
            async with context.service(service):
                return await meetings[service](context)

        self.build({'does': kind(execute=execute)}, max_per_service=2)
        self.create_plan(
            *(
                make_action(
                    name=f'{service}{n}',
                    action_type='does',
                    inputs={'service': service},
                )
                for n in range(6)
                for service in meetings
            )
        )
        self.wait_until(lambda: self.statuses() == {'SUCCEEDED'})
        self.assertEqual([2, 2], [meeting.most for meeting in meetings.values()])

    def test_functions_run_while_coroutines_wait(self) -> None:
        gate = self.create_gate()

        async def execute(context: Any) -> Any:
            return await asyncio.to_thread(gate)

        self.build({'does': kind(execute=execute)}, max_parallel=1)
        self.create_plan(make_action(name='waits', action_type='does'))
        gate.wait_until_entered()
        self.create_plan(make_action(name='b'))
        self.wait_for_status('b', states.SUCCEEDED)
        # An attempt is removed after the commit that has stored its end.
        self.wait_until(lambda: self.in_flight.busy == 0)
        self.assertEqual(1, self.in_flight.on_loop)
        gate.open()
        self.wait_for_status('waits', states.SUCCEEDED)
        self.wait_until(lambda: self.in_flight.on_loop == 0)


class IsolationTest(CoroutinesCase):
    """A coroutine harms its own action only."""

    def test_a_coroutine_that_blocks_is_reported_and_delays_the_others(self) -> None:
        gate = Gate()
        self.addCleanup(gate.open)

        async def execute(context: Any) -> bool:
            if context.name == 'blocks':
                gate()
            return True

        handler = Lines()
        logging.getLogger('watcherlite.execution').addHandler(handler)
        self.addCleanup(
            logging.getLogger('watcherlite.execution').removeHandler, handler
        )
        self.build({'does': kind(execute=execute)})
        self.patch(loop_thread, 'BLOCKING', 0.0)
        self.create_plan(make_action(name='blocks', action_type='does', uuid='u'))
        gate.wait_until_entered()
        self.create_plan(make_action(name='other', action_type='does'))
        self.dispatcher._watchdog.check()
        self.assertIn(
            'Action u: a coroutine of the action type does blocked the event loop',
            handler.lines[0],
        )
        self.assertIn('it is at:', handler.lines[0])
        gate.open()
        self.wait_until(lambda: self.statuses() == {'SUCCEEDED'})

    def test_a_loop_that_stays_blocked_is_replaced(self) -> None:
        gate = Gate()
        self.addCleanup(gate.open)

        async def execute(context: Any) -> bool:
            if context.name == 'blocks':
                gate()
            return True

        self.build({'does': kind(execute=execute)})
        self.create_plan(make_action(name='blocks', action_type='does'))
        gate.wait_until_entered()
        self.patch(event_loop, 'STUCK', 0.0)
        self.create_plan(make_action(name='other', action_type='does'))
        self.wait_for_status('other', states.SUCCEEDED)
        self.assertEqual(states.RUNNING, self.status('blocks'))
        gate.open()
        self.wait_for_status('blocks', states.SUCCEEDED)

    def test_an_exit_in_a_subtask_does_not_end_the_loop(self) -> None:
        async def leave() -> None:
            raise SystemExit(2)

        async def execute(context: Any) -> bool:
            await asyncio.gather(leave(), return_exceptions=True)
            return True

        self.build({'does': kind(execute=execute)})
        self.run_actions(3)
        self.assertEqual({'SUCCEEDED'}, self.statuses())

    def test_a_save_of_a_token_is_not_interrupted(self) -> None:
        async def execute(context: Any) -> bool:
            try:
                async with asyncio.timeout(0):
                    await context.save_token({'job': 7})
            except TimeoutError:
                return True
            return False

        self.build({'does': kind(execute=execute)})
        self.run_actions(1)
        self.assertEqual({'SUCCEEDED'}, self.statuses())


class ResourcesTest(CoroutinesCase):
    """The objects and the log lines of coroutines."""

    def test_kept_objects_are_shared_and_closed_with_the_loop(self) -> None:
        closed = threading.Event()
        made: list[Any] = []

        class Client:
            async def close(self) -> None:
                closed.set()

        def make() -> Client:
            made.append(1)
            return Client()

        async def execute(context: Any) -> Done:
            return Done({'same': context.keep('k', make) is context.keep('k', make)})

        self.build({'does': kind(execute=execute)})
        self.run_actions(3)
        self.assertEqual([1], made)
        self.assertEqual({'same': True}, self.store.list_actions()[0].outputs)
        self.assertFalse(closed.is_set())
        self.dispatcher.stop()
        self.assertTrue(closed.wait(TIMEOUT))

    def test_each_line_of_a_coroutine_has_the_request_and_the_action(self) -> None:
        handler = Lines()
        PLUGIN.addHandler(handler)
        self.addCleanup(PLUGIN.removeHandler, handler)
        meeting = Barrier(2)

        async def says(context: Any, what: str) -> None:
            await asyncio.sleep(0)
            PLUGIN.warning('%s of %s', what, context.name)

        async def execute(context: Any) -> bool:
            # Both actions are in the loop at the same time.
            await meeting(context)
            await asyncio.gather(says(context, 'subtask'), says(context, 'another'))
            await says(context, 'coroutine')
            return True

        self.build({'does': kind(execute=execute)})
        self.create_plan(
            *(
                make_action(
                    uuid=f'uuid-{n}',
                    name=f'a{n}',
                    action_type='does',
                    context=request_context(n),
                )
                for n in (1, 2)
            )
        )
        for n in (1, 2):
            self.wait_for_status(f'a{n}', states.SUCCEEDED)
        for n in (1, 2):
            who = f'[req-{n} user-{n} project-{n}] [action: uuid-{n}]'
            self.assertEqual(
                [
                    f'{who} {what} of a{n}'
                    for what in ('subtask', 'another', 'coroutine')
                ],
                [line for line in handler.lines if f' of a{n}' in line],
            )

    def test_a_worker_without_coroutines_has_no_loop(self) -> None:
        script = (
            'import sys; import watcherlite.execution.worker; '
            'print("watcherlite.execution.coroutines.loop_thread" in sys.modules)'
        )
        done = subprocess.run(
            [sys.executable, '-c', script], capture_output=True, text=True, check=True
        )
        self.assertEqual('False\n', done.stdout)
        self.build({})
        self.create_plan(make_action(name='a'))
        self.wait_for_status('a', states.SUCCEEDED)
        names = {thread.name for thread in threading.enumerate()}
        self.assertNotIn('coroutines', names - self.before)

    def setUp(self) -> None:
        super().setUp()
        self.before = {thread.name for thread in threading.enumerate()}


class DrainTest(CoroutinesCase):
    """The end of a worker."""

    def test_a_drain_waits_for_coroutines(self) -> None:
        gate = self.create_gate()

        async def execute(context: Any) -> Any:
            return await asyncio.to_thread(gate)

        self.build({'does': kind(execute=execute)})
        self.create_plan(make_action(name='a', action_type='does'))
        gate.wait_until_entered()
        self.assertFalse(self.dispatcher.drain(0))
        gate.open()
        self.wait_until(lambda: self.dispatcher.drain(0))
        self.assertEqual(states.SUCCEEDED, self.status('a'))


class BlockingTest(CoroutinesCase):
    """Blocking plugins in the wide pool."""

    def start_blocking(self, count: int, **settings: Any) -> Gate:
        gate = self.create_gate()
        phases = dict.fromkeys(('pre_condition', 'execute'), gate)
        does = kind(blocking=True, service='compute', **phases)
        self.build({'does': does}, max_parallel=1, **settings)
        self.create_plan(
            *(make_action(name=f'a{n}', action_type='does') for n in range(count))
        )
        return gate

    def test_they_wait_together_beyond_the_threads(self) -> None:
        gate = self.start_blocking(20)
        gate.wait_until_entered(20)
        self.assertEqual((0, 20), (self.in_flight.busy, self.in_flight.blocking))
        # Other actions are executed meanwhile.
        self.create_plan(make_action(name='b'))
        self.wait_for_status('b', states.SUCCEEDED)
        gate.open()
        self.wait_until(lambda: self.statuses() == {'SUCCEEDED'})
        self.assertEqual((40, 0), (gate.entered, self.in_flight.blocking))

    def test_the_calls_of_one_service_are_limited(self) -> None:
        gate = self.start_blocking(6, max_per_service=2)
        gate.wait_until_entered(2)
        self.wait_until(lambda: self.in_flight.blocking == 6)
        self.assertEqual(2, gate.entered)
        gate.open()
        self.wait_until(lambda: self.statuses() == {'SUCCEEDED'})

    def test_coroutines_and_functions_share_the_limit_of_a_service(self) -> None:
        gate = self.create_gate()

        async def execute(context: Any) -> Any:
            async with context.service('compute'):
                return await asyncio.to_thread(gate)

        types = {
            'waits': kind(execute=execute),
            'blocks': kind(execute=gate, blocking=True, service='compute'),
        }
        self.build(types, max_per_service=3)
        self.create_plan(
            *(
                make_action(name=f'{t}{n}', action_type=t)
                for n in range(5)
                for t in types
            )
        )
        gate.wait_until_entered(3)
        in_flight = self.in_flight
        self.wait_until(lambda: (in_flight.on_loop, in_flight.blocking) == (5, 5))
        self.assertEqual(3, gate.entered)
        gate.open()
        self.wait_until(lambda: self.statuses() == {'SUCCEEDED'})

    def test_a_step_that_moves_to_the_wide_pool_at_once_runs_once(self) -> None:
        def run_at_once(pool: Pool, jobs: list[Job]) -> bool:
            for job in jobs:
                job()
            return False

        # As if a thread took the job before the submitting thread continued.
        self.patch(Pool, 'submit', run_at_once)
        calls, gate = Calls(), self.create_gate()
        phases = {
            'pre_condition': calls.record('pre_condition', gate),
            'execute': calls.record('execute', True),
        }
        self.build({'does': kind(blocking=True, service='compute', **phases)})
        self.create_plan(make_action(name='a', action_type='does'))
        gate.wait_until_entered()
        # The submitting thread has continued when it has executed another action.
        self.create_plan(make_action(name='b'))
        self.wait_for_status('b', states.SUCCEEDED)
        gate.open()
        self.wait_for_status('a', states.SUCCEEDED)
        self.wait_until(lambda: not self.dispatcher.owned)

        self.assertEqual([('a', 'pre_condition'), ('a', 'execute')], calls.made)
        self.assertNotIn('is dropped', self.log.output)

    def test_claims_stop_when_many_of_them_wait(self) -> None:
        gate = self.start_blocking(12, max_probes=2, claim_batch=4)
        self.wait_until(lambda: self.in_flight.blocking >= 4)
        claimed = len(self.dispatcher.owned)
        self.assertLess(claimed, 12)
        gate.open()
        self.wait_until(lambda: self.statuses() == {'SUCCEEDED'})
