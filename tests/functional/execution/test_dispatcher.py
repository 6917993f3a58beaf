"""The dispatcher: actions from claim to end, on a manual clock."""

import contextlib
import datetime
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from tests import base
from tests.bounded import TIMEOUT
from tests.factories import NOW, all_plans, make_action, store_actions, store_plan
from tests.worlds import Calls, Gate, kind, raises
from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.domain.actions import Action
from watcherlite.domain.outcomes import Derived, DerivedAction, Done, InProgress, Retry
from watcherlite.execution.action_logs import ActionLogs
from watcherlite.execution.checkpoints import CheckpointWriter
from watcherlite.execution.claim_queues import FIRST_LIMIT, ClaimQueues, ClaimWindow
from watcherlite.execution.committer import CommitQueue, Committer, EventListeners
from watcherlite.execution.coroutines.event_loop import EventLoop
from watcherlite.execution.dispatcher import Dispatcher
from watcherlite.execution.in_flight import InFlight
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.pool import Pools
from watcherlite.execution.ports import Claimant
from watcherlite.execution.prefetch import PREPARE_TIMEOUT
from watcherlite.execution.runner import Runner
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.plugins import loader
from watcherlite.plugins.base import ActionType
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class Watched(MemoryStore):
    """A store that calls a function after each commit, in the same thread."""

    def __init__(self, clock: ManualClock, after_commit: Callable[[], None]) -> None:
        super().__init__(clock)
        self._after_commit = after_commit

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        with super().transaction() as tx:
            yield tx
        self._after_commit()


class Wide(ClaimWindow):
    """A claim window for short actions."""

    @property
    def size(self) -> int:
        return 500


class DispatcherCase(base.TestCase):
    """A dispatcher with a real pool and a real committer on one plan."""

    def build(
        self,
        types: dict[str, type[ActionType]],
        after_commit: Callable[[], None] = lambda: None,
        **settings: Any,
    ) -> None:
        self.clock = ManualClock()
        self.store = Watched(self.clock, after_commit)
        self.settings = ExecutionSettings(
            **{'max_parallel': 2, 'linger': 0.0, **settings}
        )
        self.stopped_plans: list[str] = []
        self.hinted: list[tuple[list[str], list[str]]] = []
        self.unowned: list[str | None] = []
        self.empty_queues = 0
        self.condition = threading.Condition()
        plugins = loader.Plugins.of(action_types={'nop': kind(), **types})
        services = CoreServices(self.store, self.clock, self.settings, 'w')
        self.timers = services.timers
        queue = CommitQueue(services)
        self.queues = ClaimQueues(services, ('applier',), queue)
        self.in_flight = InFlight(self.clock)
        pools = Pools(self.settings, queue, EventLoop(self.settings))
        self.runner = Runner(
            services,
            plugins,
            PolicyChain(),
            CheckpointWriter(services, queue, self.in_flight, pools),
        )
        self.dispatcher = Dispatcher(
            services, self.queues, self.in_flight, queue, pools, self.runner, self
        )
        listeners = EventListeners()
        listeners.add(lambda stored: self.wake())
        self.committer = Committer(
            services,
            queue,
            PlanProgress(),
            self.dispatcher,
            self,  # type: ignore[arg-type]
            listeners,
            ActionLogs(services, queue.wake),
        )
        self.committer.start()
        self.addCleanup(self.committer.stop, TIMEOUT)
        self.addCleanup(self.dispatcher.stop)

    # The lease

    def seconds_left(self) -> float:
        return 60.0

    # The events of the dispatcher

    def on_plan_stopped(self, plan_uuid: str) -> None:
        self.stopped_plans.append(plan_uuid)

    def on_unblocked(self, actions: Sequence[Any]) -> None:
        self.unowned.extend(action.name for action in actions)

    def on_queue_empty(self, claimed_at: datetime.datetime) -> None:
        self.empty_queues += 1

    def on_work_left(self, plans: Collection[str], lanes: Collection[str]) -> None:
        self.hinted.append((list(plans), list(lanes)))

    def on_waiting(self, action: Action) -> None:
        """Do nothing."""

    def on_saturated(self, dispatcher: Claimant) -> None:
        """Do nothing."""

    def wake(self) -> None:
        with self.condition:
            self.condition.notify_all()

    def create_plan(self, *actions: Action, **plan: Any) -> list[Action]:
        stored, members = store_plan(self.store, *actions, **plan)
        self.queues.hint_plan(stored.id, stored.uuid)
        return members

    def wait_until(self, condition: Callable[[], bool]) -> None:
        with self.condition:
            for _ in range(round(TIMEOUT / 0.05)):
                if condition():
                    return
                self.condition.wait(0.05)
        raise AssertionError([(a.name, a.status) for a in self.store.list_actions()])

    def status(self, name: str) -> str:
        (found,) = [a for a in self.store.list_actions() if a.name == name]
        return found.status

    def wait_for_status(self, name: str, *desired: str) -> None:
        self.wait_until(lambda: self.status(name) in desired)

    def create_gate(self) -> Gate:
        gate = Gate()
        self.addCleanup(gate.open)
        return gate


class ClaimTest(DispatcherCase):
    """The number and the times of claims."""

    def test_long_actions_beyond_one_for_each_thread_are_hinted(self) -> None:
        gate = self.create_gate()
        self.build({'waits': kind(execute=gate)})
        self.create_plan(
            *(make_action(name=f'a{n}', action_type='waits') for n in range(5))
        )
        gate.wait_until_entered(2)
        self.assertEqual(2, len(self.dispatcher.owned))
        self.wait_until(lambda: bool(self.hinted))
        (plan,) = all_plans(self.store)
        self.assertEqual(([plan.uuid], []), self.hinted[0])
        gate.open()
        for n in range(5):
            self.wait_for_status(f'a{n}', states.SUCCEEDED)

    def test_short_actions_are_claimed_many_at_once(self) -> None:
        self.build({}, max_parallel=1, claim_batch=50)
        self.create_plan(*(make_action(name=f'a{n}') for n in range(300)))
        self.wait_until(
            lambda: not self.store.list_actions(statuses=states.NOT_STARTED)
        )
        self.assertGreater(self.queues.window.size, 1)

    def test_the_first_short_actions_start_before_the_next_claim(self) -> None:
        seen: list[tuple[int, int]] = []

        def record_rows() -> None:
            rows = [a for a in self.store.list_actions() if a.name == 'b']
            taken = sum(a.attempt > 0 for a in rows)
            seen.append((taken, sum(a.start_time is not None for a in rows)))

        self.build({}, record_rows, max_parallel=2, claim_batch=500)
        self.queues.window = Wide(self.settings)
        self.create_plan(*(make_action(name='b') for _ in range(300)))
        self.wait_until(
            lambda: not self.store.list_actions(statuses=states.NOT_STARTED)
        )
        first = next(pair for pair in seen if pair[0])
        more = next(pair for pair in seen if pair[0] > FIRST_LIMIT)
        self.assertEqual((FIRST_LIMIT, 0), first)
        self.assertGreater(more[1], 0)

    def test_an_empty_claim_requests_the_due_times(self) -> None:
        self.build({})
        later = self.clock.now().replace(year=2999)
        self.create_plan(make_action(name='a'), make_action(name='b', not_before=later))
        self.wait_for_status('a', states.SUCCEEDED)
        self.wait_until(lambda: self.empty_queues > 0)

    def test_a_plan_with_all_actions_in_flight_requests_no_due_times(self) -> None:
        gate = self.create_gate()
        self.build({'waits': kind(execute=gate)})
        self.queues.hint_lane('applier')
        self.wait_until(lambda: self.empty_queues == 1)
        self.create_plan(make_action(name='a', action_type='waits'))
        gate.wait_until_entered()
        self.assertEqual(1, self.empty_queues)

    def test_actions_of_a_lane_beyond_the_window_are_hinted(self) -> None:
        gate = self.create_gate()
        self.build({'waits': kind(execute=gate)})
        store_actions(
            self.store,
            *(make_action(action_type='waits', status=states.READY) for _ in range(5)),
        )
        self.queues.hint_lane('applier')
        gate.wait_until_entered(2)
        self.wait_until(lambda: ([], ['applier']) in self.hinted)

    def test_unblocked_actions_of_other_queues_are_announced(self) -> None:
        gate = self.create_gate()
        self.build({'waits': kind(execute=gate)})
        self.create_plan(make_action(name='a', action_type='waits', target='x'))
        gate.wait_until_entered()
        blocked = {'target': 'x', 'status': states.WAITING, 'blocked_on': 'x'}
        store_plan(self.store, make_action(name='of a plan', **blocked))
        gate.open()
        self.wait_until(lambda: self.unowned == ['of a plan'])

    def test_hints_for_other_lanes_are_ignored(self) -> None:
        self.build({})
        self.queues.hint_lane('engine')
        lanes = {request.lane for request in self.dispatcher.claim_requests()}
        self.assertNotIn('engine', lanes)


class HandOverTest(DispatcherCase):
    """Dependents that are prepared in the thread of their parent."""

    def create_chain(self, types: dict[str, type[ActionType]]) -> list[Action]:
        # Independent of the load of the machine.
        self.build(types, quick=3600.0)
        first = make_action(name='warm', action_type='checked')
        self.create_plan(first)
        self.wait_for_status('warm', states.SUCCEEDED)
        a = make_action(name='a', action_type='does')
        b = make_action(name='b', action_type='checked', parents=(a.uuid,))
        return self.create_plan(a, b)

    def test_a_quick_dependent_starts_with_the_end_of_its_parent(self) -> None:
        self.create_chain({'checked': kind(), 'does': kind()})
        self.wait_for_status('b', states.SUCCEEDED)
        names = {a.id: a.name for a in self.store.list_actions()}
        changes = [
            (names[s.event.action_id], s.event.new_status)
            for s in self.store.list_events(limit=100)
            if s.event.action_id
        ]
        self.assertEqual(
            [
                ('a', 'RUNNING'),
                ('a', 'SUCCEEDED'),
                ('b', 'RUNNING'),
                ('b', 'SUCCEEDED'),
            ],
            changes[-4:],
        )

    def test_a_hanging_dependent_delays_its_parent_for_a_moment(self) -> None:
        gate = self.create_gate()

        def pre_condition(context: Any) -> None:
            if context.name == 'b':
                gate()

        self.create_chain(
            {'checked': kind(pre_condition=pre_condition), 'does': kind()}
        )
        gate.wait_until_entered()
        self.assertEqual(states.RUNNING, self.status('a'))
        self.dispatcher.watch_deadlines()
        self.clock.advance(PREPARE_TIMEOUT)
        self.timers.run_due()
        self.wait_for_status('a', states.SUCCEEDED)
        # It is claimed and hangs in a thread of its own.
        gate.wait_until_entered(2)
        gate.open()
        self.wait_for_status('b', states.SUCCEEDED)

    def test_a_dependent_that_fails_its_preparation_is_claimed_later(self) -> None:
        calls = Calls()

        def pre_condition(context: Any) -> None:
            calls.record('pre_condition')(context)
            if context.name == 'b':
                raise exceptions.ActionSkipException('gone')

        self.create_chain(
            {'checked': kind(pre_condition=pre_condition), 'does': kind()}
        )
        self.wait_for_status('b', states.SKIPPED)
        self.assertEqual(2, calls.of('pre_condition').count('b'))

    def test_a_cancel_ends_a_claimed_action_before_its_start(self) -> None:
        gate = self.create_gate()
        checks = kind(pre_condition=gate, execute=raises(AssertionError))
        self.build({'checks': checks}, max_parallel=1, claim_batch=4)
        self.create_plan(*(make_action(name=f'n{n}') for n in range(100)))
        self.wait_until(
            lambda: not self.store.list_actions(statuses=states.NOT_STARTED)
        )
        checked, waiting = self.create_plan(
            make_action(name='checked', action_type='checks'),
            make_action(name='waiting', action_type='checks'),
        )
        gate.wait_until_entered()
        self.wait_until(lambda: len(self.dispatcher.owned) == 2)
        for action in (waiting, checked):
            with self.store.transaction() as tx:
                tx.set_control(states.CANCEL, NOW, action_ids=[action.id])
            self.dispatcher.deliver([(action.id, states.CANCEL)])
        # It does not wait for a thread.
        self.wait_for_status('waiting', states.CANCELLED)
        self.assertEqual(states.READY, self.status('checked'))
        gate.open()
        self.wait_for_status('checked', states.CANCELLED)
        self.assertEqual(1, gate.entered)

    def test_a_parent_of_derived_actions_is_claimed_with_its_signal(self) -> None:
        gate = self.create_gate()
        calls = Calls()
        derives = kind(
            execute=lambda c: Derived((DerivedAction('b', 'waits'),)),
            complete=calls.record('complete'),
        )
        # Independent of the load of the machine.
        self.build({'derives': derives, 'waits': kind(execute=gate)}, quick=3600.0)
        (a,) = self.create_plan(make_action(name='a', action_type='derives'))
        gate.wait_until_entered()
        self.wait_until(lambda: bool(self.dispatcher._prefetcher._loaded))
        with self.store.transaction() as tx:
            tx.set_control(states.CANCEL, self.clock.now(), action_ids=[a.id])
        gate.open()
        self.wait_for_status('a', states.SUCCEEDED, states.CANCELLED)
        self.assertEqual((states.CANCELLED, []), (self.status('a'), calls.made))


class EndTest(DispatcherCase):
    """Drain and abandon."""

    def test_a_drain_releases_unstarted_actions(self) -> None:
        gate = self.create_gate()
        self.build({'checks': kind(pre_condition=gate)}, max_parallel=1, claim_batch=4)
        # Short actions first, so that it claims more actions than it has threads.
        self.create_plan(*(make_action(name=f'n{n}') for n in range(100)))
        self.wait_until(
            lambda: not self.store.list_actions(statuses=states.NOT_STARTED)
        )
        self.create_plan(
            *(make_action(name=f'a{n}', action_type='checks') for n in range(3))
        )
        gate.wait_until_entered()
        self.wait_until(lambda: len(self.dispatcher.owned) == 3)
        drained: list[bool] = []
        thread = threading.Thread(
            target=lambda: drained.append(self.dispatcher.drain(TIMEOUT)), daemon=True
        )
        thread.start()
        self.wait_until(lambda: self.queues.is_closed)
        gate.open()
        thread.join(TIMEOUT)
        self.assertEqual([True], drained)
        self.assertEqual(
            [('SUCCEEDED', None), ('READY', None), ('READY', None)],
            [
                (a.status, a.owner)
                for a in self.store.list_actions()
                if str(a.name).startswith('a')
            ],
        )
        self.assertEqual((), self.dispatcher.claim_requests())

    def test_an_abandoned_attempt_does_not_start(self) -> None:
        executed: list[Any] = []
        gate = self.create_gate()

        def pre_condition(context: Any) -> None:
            gate()

        self.build({'x': kind(pre_condition=pre_condition, execute=executed.append)})
        self.create_plan(make_action(name='a', action_type='x'))
        gate.wait_until_entered()
        self.dispatcher.abandon()
        gate.open()
        self.assertEqual(
            ({}, ()), (self.dispatcher.owned, self.dispatcher.claim_requests())
        )
        self.assertTrue(self.committer.stop(TIMEOUT))
        self.assertEqual(([], states.READY), (executed, self.status('a')))

    def test_a_sleeping_attempt_wakes_when_abandoned(self) -> None:
        entered, over = threading.Event(), threading.Event()

        def execute(context: Any) -> bool:
            entered.set()
            try:
                context.sleep(3600)
            finally:
                over.set()
            return True

        self.build({'sleeps': kind(execute=execute)})
        self.create_plan(make_action(name='a', action_type='sleeps'))
        self.assertTrue(entered.wait(TIMEOUT))
        self.dispatcher.abandon()
        self.assertTrue(over.wait(TIMEOUT))

    def test_an_error_of_the_core_fails_the_action_and_frees_its_place(self) -> None:
        self.build({})

        def broken(attempt: Any) -> Any:
            raise RuntimeError('a bug')

        self.runner.perform = broken  # type: ignore[method-assign]
        self.create_plan(make_action(name='a'))
        self.wait_for_status('a', states.FAILED)
        (found,) = self.store.list_actions()
        self.assertEqual(
            'Action failed in pre_condition: an internal error of watcherlite; see the '
            'log',
            found.status_message,
        )
        self.wait_until(lambda: not self.dispatcher.owned)
        self.assertIn('RuntimeError: a bug', self.log.output)


class SignalTest(DispatcherCase):
    """Signals to attempts in flight."""

    def store_external(self, **values: Any) -> Action:
        """Return an action with external work of a worker, to be adopted."""
        (action,) = store_actions(
            self.store,
            make_action(
                name='a',
                action_type='external',
                status=states.RUNNING,
                owner='w',
                token='job',
                **values,
            ),
        )
        return action

    def test_a_signal_during_the_start_is_delivered(self) -> None:
        # Its start, with the end of 'a', is durable, but not processed yet.
        def committed() -> None:
            for action in self.store.list_actions(statuses=[states.RUNNING]):
                if action.name == 'b':
                    self.dispatcher.deliver([(action.id, states.CANCEL)])

        def execute(context: Any) -> bool:
            if context.name == 'b':
                context.sleep(3600)
            return True

        self.build({'does': kind(execute=execute)}, after_commit=committed)
        self.create_plan(make_action(name='warm', action_type='does'))
        self.wait_for_status('warm', states.SUCCEEDED)
        a = make_action(name='a', action_type='does')
        b = make_action(name='b', action_type='does', parents=(a.uuid,))
        self.create_plan(a, b)
        self.wait_for_status('b', states.CANCELLED)

    def test_a_signal_during_the_adoption_is_delivered(self) -> None:
        gate = Gate(returns=None)
        self.addCleanup(gate.open)
        self.build(
            {
                'external': kind(
                    __init__=gate, poll=lambda c, token: InProgress(token, 3600.0)
                )
            }
        )
        a = self.store_external()
        self.dispatcher.adopt(a)
        gate.wait_until_entered()
        self.dispatcher.deliver([(a.id, states.CANCEL)])
        gate.open()
        self.wait_for_status('a', states.CANCELLED)

    def test_a_poll_after_the_adoption_resets_the_lost_workers(self) -> None:
        self.build(
            {'external': kind(poll=lambda context, token: InProgress(token, 3600.0))}
        )
        a = self.store_external(recoveries=2)

        def is_reset() -> bool:
            self.timers.run_due()
            return self.store.get_action(a.uuid).recoveries == 0

        self.dispatcher.adopt(a)
        self.wait_until(is_reset)

    def test_a_drain_does_not_wait_for_an_idle_suspended_action(self) -> None:
        self.build(
            {
                'external': kind(
                    execute=lambda c: InProgress('job', 60.0),
                    poll=lambda c, token: Done(),
                )
            }
        )
        (a,) = self.create_plan(make_action(name='a', action_type='external'))
        self.wait_until(lambda: self.store.get_action(a.uuid).token is not None)
        self.dispatcher.deliver([(a.id, states.SUSPEND)])
        self.wait_for_status('a', states.SUSPENDED)
        self.assertTrue(self.dispatcher.drain(TIMEOUT))
        # It is polled immediately after the resumption.
        self.dispatcher.deliver([(a.id, states.RESUME)])
        self.wait_for_status('a', states.SUCCEEDED)

    def test_an_idle_action_times_out(self) -> None:
        self.build({'external': kind(execute=lambda c: InProgress('job', 3600.0))})
        (a,) = self.create_plan(
            make_action(name='a', action_type='external', timeout=5)
        )
        self.wait_until(lambda: self.store.get_action(a.uuid).token is not None)
        self.wait_until(lambda: self.in_flight.busy == 0)
        self.dispatcher.watch_deadlines()
        self.clock.advance(5)
        self.timers.run_due()
        self.wait_for_status('a', states.FAILED)


class RetryTest(DispatcherCase):
    """Retries."""

    def test_a_retry_is_claimed_when_it_is_due(self) -> None:
        self.build({'busy': kind(execute=lambda c: c.attempt > 1 or Retry('x', 30.0))})
        self.create_plan(make_action(name='a', action_type='busy'))
        self.wait_for_status('a', states.READY)
        self.wait_until(lambda: not self.dispatcher.owned)
        self.clock.advance(29)
        self.timers.run_due()
        self.assertEqual(states.READY, self.status('a'))
        self.clock.advance(1)
        self.timers.run_due()
        self.wait_for_status('a', states.SUCCEEDED)
