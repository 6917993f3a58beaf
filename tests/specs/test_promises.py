"""The guarantees of the design; each test is named after one.

`Promises` is a suite for any store: mix it into a WorldCase with a `make_store`. A
request for another store stops the previous world, so that both may use one database
that is emptied in between.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tests.chaos import Chaos
from tests.factories import all_plans
from tests.worlds import Calls, World, WorldCase, action, chain, kind, raises
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain import events
from watcherlite.domain.outcomes import (
    Derived,
    DerivedAction,
    Done,
    Failed,
    InProgress,
    Retry,
)
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

#: One plan with all that an action can do.
EVERYTHING: list[dict[str, Any]] = [
    *chain('a', 'b', 'c', action_type='unsafe'),
    action('p', 'safe'),
    action('q', 'safe', parents=['p']),
    action('retries', 'retries', parents=['a']),
    action('external', 'external'),
    action('derives', 'derives', parents=['p']),
    action('gone', 'gone', parents=['q']),
    action('fails', 'fails', parents=['gone']),
    action('end', 'unsafe', parents=['fails', 'c', 'derives', 'external']),
]


class Counting:
    """A store that counts its calls and commits."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self.calls = 0
        self.commits = 0

    def __getattr__(self, name: str) -> Any:
        with self._lock:
            self.calls += 1
        return getattr(self._store, name)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        """Begin a transaction whose calls are counted."""
        with self._store.transaction() as tx:
            yield _CountingTransaction(tx, self)
        with self._lock:
            self.commits += 1


class _CountingTransaction:
    def __init__(self, tx: Any, counting: Counting) -> None:
        self._tx = tx
        self._counting = counting

    def __getattr__(self, name: str) -> Any:
        self._counting.calls += 1
        return getattr(self._tx, name)


class Promises:
    """Guarantees that depend on the database; `make_store` returns the store."""

    #: The number of random sequences of faults.
    disorders = 10
    #: The interval between the commits at which a worker dies.
    every = 1

    def create_world_for_everything(self) -> World:
        """Return a world for the plan EVERYTHING."""
        self.calls = Calls()
        note = self.calls.record

        derived = (
            DerivedAction('x', 'safe'),
            DerivedAction('y', 'safe', parents=('x',)),
        )

        def busy(context: Any) -> Any:
            return True if context.attempt > 1 else Retry('busy', 0.01)

        return self.create_world(
            {
                'unsafe': kind(execute=note('execute', True)),
                'safe': kind(execute=note('execute', True), idempotent=True),
                'retries': kind(execute=busy, idempotent=True),
                'external': kind(
                    execute=lambda c: InProgress('job', 0.01),
                    poll=lambda c, token: Done({'job': token}),
                    idempotent=True,
                ),
                'derives': kind(execute=lambda c: Derived(derived), idempotent=True),
                'gone': kind(
                    pre_condition=raises(exceptions.ActionSkipException('gone'))
                ),
                'fails': kind(execute=lambda c: Failed('no disk'), idempotent=True),
            }
        )

    def assert_consistent(self, world: World, plan: Any) -> None:
        """Check that a plan has ended, and that its events are complete."""
        ended = world.store.get_plan(plan.uuid)
        self.assertIn(ended.state, plan_states.ENDED, world.report(plan))
        self.assertEqual((0, 0), (ended.unfinished, ended.active), world.report(plan))
        actions = {a.id: a for a in world.store.list_actions(plan_id=plan.id)}
        self.assertEqual(set(), {a.status for a in actions.values()} - states.FINAL)
        outcome: dict[int | None, str | None] = {}
        uuids = []
        for event in world.events(plan):
            uuids.append(event.uuid)
            if event.kind not in (events.CREATED, events.STATE_CHANGED):
                continue
            before = outcome.get(event.action_id)
            # All statuses before the start are one public state; changes among them
            # have no event.
            if not {before, event.old_status} <= states.NOT_STARTED:
                self.assertEqual(before, event.old_status, world.report(plan))
            self.assertNotIn(before, states.FINAL, world.report(plan))
            outcome[event.action_id] = event.new_status
        self.assertEqual(len(uuids), len(set(uuids)))
        self.assertEqual(
            {None: ended.state, **{key: a.status for key, a in actions.items()}},
            outcome,
        )

    # An accepted request is durable. No action is lost, none has two owners whose
    # results count, none that is neither idempotent nor checkable is ever started
    # twice.

    def test_an_accepted_request_is_durable(self) -> None:
        # The process that accepted it is gone, and its messages are lost.
        world = self.create_world({'sleeps': kind(execute=lambda c: c.sleep(3600))})
        started = world.start('a', 'b')
        skipped = world.create('c', 'd')
        world.plans.skip_action(world.action('c').uuid)
        world.plans.start(skipped.uuid)
        cancelled = world.start('e')
        world.plans.cancel(cancelled.uuid)

        later = World(world.store)
        self.addCleanup(later.stop)
        later.worker()
        self.assertEqual(plan_states.SUCCEEDED, later.wait_until_ended(started).state)
        self.assertEqual(plan_states.SUCCEEDED, later.wait_until_ended(skipped).state)
        self.assertEqual({'c': 'SKIPPED', 'd': 'SUCCEEDED'}, later.statuses(skipped))
        self.assertEqual({'e': 'CANCELLED'}, later.statuses(cancelled))

    def kill_at_commit(self, **dies: int) -> bool:
        """Let a worker die at one of its commits, and another do the rest.

        :returns: whether the worker reached this commit
        """
        world = self.create_world_for_everything()
        worker = world.worker(**dies)
        plan = world.start(*EVERYTHING)
        world.wait_until(
            lambda: (
                world.is_dead(worker)
                or world.store.get_plan(plan.uuid).state in plan_states.ENDED
            )
        )
        died = world.is_dead(worker)
        world.kill(worker)
        world.worker()
        world.wait_until_ended(plan)

        self.assert_consistent(world, plan)
        executed = self.calls.of('execute')
        for name in ('a', 'b', 'c', 'end'):
            self.assertLessEqual(executed.count(name), 1, world.report(plan))
        for name in ('p', 'q', 'x', 'y'):
            self.assertGreaterEqual(executed.count(name), 1, world.report(plan))
        statuses = world.statuses(plan)
        for name in ('p', 'q', 'retries', 'external', 'derives', 'x', 'y'):
            self.assertEqual('SUCCEEDED', statuses[name], world.report(plan))
        self.assertEqual('SKIPPED', statuses['gone'])
        world.stop()
        return died

    def test_no_action_is_lost_when_a_worker_dies_before_or_after_any_commit(
        self,
    ) -> None:
        for moment in ('dies_before', 'dies_after'):
            commit = 1
            while self.kill_at_commit(**{moment: commit}):
                commit += self.every
            self.assertGreater(commit, 8)

    def test_no_action_has_two_owners_whose_results_count(self) -> None:
        # Two workers do not know that they have lost everything; a third takes over.
        world = self.create_world(
            {'slow': kind(execute=lambda c: gates[c.attempt - 1](c), idempotent=True)}
        )
        gates: list[Callable[..., Any]] = [
            self.create_gate(Done({'by': 1})),
            self.create_gate(Done({'by': 2})),
            lambda context: Done({'by': 3}),
        ]
        plan = world.start(action('a', 'slow'))
        zombies = []
        for gate in gates[:2]:
            zombies.append(world.worker())
            gate.wait_until_entered()
            world.store.end_lease(zombies[-1].record.uuid)
        world.worker()
        world.wait_until_ended(plan)
        before = world.action('a'), world.events(plan)
        for gate in gates[:2]:
            gate.open()
        for zombie in zombies:
            world.wait_until(lambda z=zombie: not z.dispatcher.owned)
        self.assertEqual(before, (world.action('a'), world.events(plan)))
        self.assertEqual({'by': 3}, world.action('a').outputs)
        self.assert_consistent(world, plan)

    def test_an_action_that_is_not_idempotent_is_never_started_twice(self) -> None:
        gate = self.create_gate()
        starts: list[str] = []

        def execute(context: Any) -> Any:
            starts.append(context.name)
            return gate()

        world = self.create_world({'unsafe': kind(execute=execute)}, max_parallel=8)
        worker = world.worker()
        plan = world.start(*(action(f'a{n}', 'unsafe') for n in range(8)))
        gate.wait_until_entered(8)
        world.kill(worker)
        gate.open()
        world.worker()
        world.wait_until_ended(plan)
        self.assertEqual(sorted(f'a{n}' for n in range(8)), sorted(starts))
        self.assertEqual({'FAILED'}, set(world.statuses(plan).values()))

    def test_no_action_is_stuck_after_any_fault(self) -> None:
        for seed in range(self.disorders):
            disorder = Chaos(self.make_store(), seed)
            self.addCleanup(disorder.stop)
            disorder.run()
            for plan in disorder.plans:
                self.assert_consistent(disorder.world, plan)
            kinds = {
                a.name: a.action_type
                for a in disorder.world.store.list_actions(limit=1000)
            }
            unsafe = [n for n in disorder.starts if kinds.get(n) == 'unsafe']
            self.assertEqual(sorted(set(unsafe)), sorted(unsafe), f'seed {seed}')
            disorder.stop()

    # A state change and its notification are atomic.

    def test_a_state_change_and_its_only_event_are_atomic(self) -> None:
        world = self.create_world_for_everything()
        plan = world.run(*EVERYTHING)
        self.assertEqual(plan_states.FAILED, plan.state)
        self.assert_consistent(world, plan)
        outcome = [
            (event.action_id, event.old_status, event.new_status)
            for event in world.events(plan)
            if event.kind == events.STATE_CHANGED
        ]
        again = world.action('retries').id
        twice = {t for t in outcome if outcome.count(t) > 1}
        self.assertEqual(
            {(again, 'READY', 'RUNNING')}, {t for t in twice if t[0] == again}
        )
        self.assertLessEqual({t[0] for t in twice}, {again, world.action('derives').id})
        # Each event is pending until it is published, and keeps its id.
        first = world.store.pending_events(1000)
        self.assertEqual(first, world.store.pending_events(1000))
        self.assertEqual(
            [e.uuid for e in world.events(plan)], [s.event.uuid for s in first]
        )
        world.store.mark_published([s.sequence for s in first], world.clock.now())
        self.assertEqual([], world.store.pending_events(1000))


class MemoryPromisesTest(Promises, WorldCase):
    """On the in-memory store, with the tests that do not depend on the database."""

    #: The maximum ratio of the costs per action of large and small plans. The number of
    #: actions per statement depends on the load of the machine; small plans hardly
    #: share any. A cost that grows with the size would be a hundred times as high.
    growth = 2.5

    def test_a_signal_whose_message_is_lost_is_found_by_the_sweep(self) -> None:
        world = self.create_world({'sleeps': kind(execute=lambda c: c.sleep(3600))})
        world.worker(sweep_interval=0.05)
        plan = world.start(action('a', 'sleeps'))
        world.wait_for_action('a', states.RUNNING)
        silent = World(world.store)
        silent.plans.signal_action(world.action('a').uuid, states.CANCEL)
        world.wait_until_ended(plan)
        self.assertEqual({'a': 'CANCELLED'}, world.statuses(plan))

    # Every rejection states what was wrong and what would be valid, and changes
    # nothing.

    def test_every_refusal_has_a_reason_and_changes_nothing(self) -> None:
        world = self.create_world()
        ended = world.run('done')
        proposed = world.create('b')
        done, pending = world.action('done').uuid, world.action('b').uuid
        missing = '00000000-0000-4000-8000-000000000000'
        plans = world.plans
        conflict, invalid = exceptions.Conflict, exceptions.Invalid
        moved = 'State transition not allowed: (SUCCEEDED -> SKIPPED)'
        kept = 'status_message update only allowed when action state is SKIPPED'
        unknown = 'actions[0].action_type: action a: There is no action type what'
        begun, stopped = (
            f"Couldn't {request} when state is 'SUCCEEDED'."
            for request in ('start', 'cancel')
        )
        unsuspended = 'SUSPEND is not possible for action'
        signal, skip = plans.signal_action, plans.skip_action
        refusals: list[tuple[type[Exception], str, Callable[..., Any], Any]] = [
            *(
                (exceptions.NotFound, missing, request, (missing,))
                for request in (plans.start, plans.cancel, plans.delete, skip)
            ),
            (conflict, begun, plans.start, (ended.uuid,)),
            (conflict, stopped, plans.cancel, (ended.uuid,)),
            (conflict, moved, skip, (done,)),
            (conflict, unsuspended, signal, (pending, 'SUSPEND')),
            (conflict, kept, plans.edit_skip_message, (pending, 'x')),
            (invalid, 'at most 223 are kept', skip, (pending, 'x' * 400)),
            (invalid, 'There is no signal', signal, (pending, 'STOP')),
            (exceptions.InvalidDocument, unknown, world.create, (action('a', 'what'),)),
        ]
        before = self.all_of(world)
        for error, text, call, arguments in refusals:
            refusal = self.assertRaises(error, call, *arguments)
            self.assertIn(text, str(refusal))
        self.assertEqual(before, self.all_of(world))
        self.assertEqual(
            plan_states.RECOMMENDED, world.store.get_plan(proposed.uuid).state
        )

    def all_of(self, world: World) -> Any:
        return (
            all_plans(world.store),
            world.store.list_actions(),
            world.store.list_events(limit=1000),
        )

    # The cost per action does not grow with the number of actions.

    def cost(self, *actions: Any) -> tuple[float, float]:
        """Return the calls and the commits per action of a plan."""
        world = self.create_world(sweep_interval=3600.0)
        counting = Counting(world.store)
        world.worker(store=counting)
        # Run such actions first, so that the worker knows their duration.
        world.run(*(f'n{n}' for n in range(50)), *chain('x', 'y', 'z'))
        calls, commits = counting.calls, counting.commits
        world.run(*actions)
        world.stop()
        count = len(actions)
        return (counting.calls - calls) / count, (counting.commits - commits) / count

    def test_cost_per_action_does_not_grow_with_the_number_of_actions(self) -> None:
        names = [f'a{n}' for n in range(300)]
        few, many = self.cost(*names[:10]), self.cost(*names)
        few_chained = self.cost(*chain(*names[:10]))
        chained = self.cost(*chain(*names[:100]))
        for one, other in zip((*few, *few_chained), (*many, *chained), strict=True):
            self.assertLessEqual(other, self.growth * one)
        self.assertLess(many[0], 1.0)
        self.assertLess(chained[1], 1.5)

    # A plugin that is missing, broken, slow or ignores signals harms only its own
    # action.

    def test_a_missing_broken_slow_or_hostile_plugin_fails_only_its_action(
        self,
    ) -> None:
        gate = self.create_gate()

        class UnprintableError(exceptions.WatcherliteError):
            def __str__(self) -> str:
                raise KeyboardInterrupt

        def unresponsive(context: Any) -> Any:
            while not gate():
                with contextlib.suppress(BaseException):
                    context.checkpoint()

        hostile = {
            'missing': kind(),
            'exits': kind(execute=raises(SystemExit(1))),
            'interrupts': kind(pre_condition=raises(KeyboardInterrupt())),
            'unspeakable': kind(execute=raises(UnprintableError())),
            'invalid': kind(execute=lambda c: Done({'x': {1}})),
            'surrogate': kind(execute=lambda c: Failed('\ud800 and \0')),
            'checks_badly': kind(post_condition=raises(GeneratorExit())),
            'unresponsive': kind(execute=unresponsive),
            'token': kind(execute=lambda c: InProgress(object())),
            'polls_badly': kind(execute=lambda c: InProgress(1, 0.0)),
            'derives_badly': kind(execute=lambda c: Derived(7)),  # type: ignore[arg-type]
            'listens_badly': kind(
                execute=lambda c: c.on_signal(None).__enter__() or c.sleep(3600)
            ),
            'made_badly': kind(),
            'retries_badly': kind(execute=lambda c: Retry('x', float('inf'))),
        }
        world = self.create_world(hostile)
        plan = world.create(
            *(action(name, name) for name in hostile),
            *chain('a', 'b', 'c'),
            action('last', parents=[*hostile, 'c']),
        )
        missing = {key: value for key, value in hostile.items() if key != 'missing'}
        broken = kind(__init__=raises(OSError('no license')))
        without = World(
            world.store,
            {**missing, 'made_badly': broken},
            default_action_timeout=0.3,
            max_parallel=2,
        )
        self.addCleanup(without.stop)
        without.worker()
        world.plans.start(plan.uuid)
        without.workers[0].discovery.check_plan(plan.uuid)
        without.wait_until_ended(plan)
        statuses = without.statuses(plan)
        for name in ('a', 'b', 'c', 'last'):
            self.assertEqual('SUCCEEDED', statuses.pop(name))
        self.assertEqual(dict.fromkeys(hostile, 'FAILED'), statuses)
        self.assertEqual(plan_states.SUCCEEDED, without.run('still', 'alive').state)
        self.assert_consistent(without, plan)
