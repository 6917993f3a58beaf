"""A complete system in one process: store, operations and workers.

The parts are the real ones except for the bus: all workers receive every message
immediately. Tests wait for conditions, never for time to pass.
"""

import contextlib
import datetime
import functools
import inspect
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests import base
from tests.bounded import TIMEOUT
from watcherlite.applier.operations import PlanOperations
from watcherlite.applier.progress import PlanProgress
from watcherlite.clock import SystemClock
from watcherlite.db.api import Store
from watcherlite.destinations import WITH_LOOPBACK
from watcherlite.domain import commands, events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import ENGINE, Action, Edge
from watcherlite.domain.creators import CREATOR, LOCAL
from watcherlite.domain.documents import plan_document
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.ports import ActionTypes, AdmissionCheck, Projection
from watcherlite.execution.services import ExecutionSettings
from watcherlite.execution.worker import Worker
from watcherlite.plugins import loader
from watcherlite.plugins.base import ActionType
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states
from watcherlite.testing.memory_store import MemoryStore

#: subject, old status, new status, message
Line = tuple[str, str | None, str | None, str | None]

#: Store -> the worlds that use it.
_on: weakref.WeakKeyDictionary[Store, list['World']] = weakref.WeakKeyDictionary()

_UUID = re.compile(r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')


def kind(name: str = 'kind', /, **members: Any) -> type[ActionType]:
    """Return an action type with these methods (without self) and attributes.

    `kind(execute=lambda context: True, idempotent=True)`; without `execute` it
    succeeds. A hook that is a coroutine function makes a coroutine of the type.
    """

    def method(function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def coroutine(self: Any, *arguments: Any) -> Any:
                return await function(*arguments)

            return coroutine
        return lambda self, *arguments: function(*arguments)

    members.setdefault('execute', lambda context: True)
    return type(
        name,
        (ActionType,),
        {
            key: method(value) if callable(value) else value
            for key, value in members.items()
        },
    )


def raises(error: BaseException | type[BaseException]) -> Callable[..., Any]:
    """Return a hook that raises."""

    def hook(*arguments: Any) -> Any:
        raise error

    return hook


def once(first: Any, then: Any = True) -> Callable[..., Any]:
    """Return a hook that returns one value at the first call, and another one later."""
    answers = iter([first])
    return lambda *arguments: next(answers, then)


class Report:
    """The text of a failure report, built only when it is needed."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()


class Gate:
    """A hook that blocks until it is opened.

    :ivar entered: the number of calls
    """

    def __init__(self, returns: Any = True) -> None:
        self._returns = returns
        self._condition = threading.Condition()
        self._open = False
        self.entered = 0

    def __call__(self, *arguments: Any) -> Any:
        with self._condition:
            self.entered += 1
            self._condition.notify_all()
            if not self._condition.wait_for(lambda: self._open, TIMEOUT):
                raise AssertionError('no test opened the gate')
        return self._returns

    def open(self) -> None:
        """Release all calls, current and future ones."""
        with self._condition:
            self._open = True
            self._condition.notify_all()

    def wait_until_entered(self, count: int = 1) -> None:
        """Wait for this number of calls."""
        with self._condition:
            if not self._condition.wait_for(lambda: self.entered >= count, TIMEOUT):
                raise AssertionError(f'{self.entered} calls, not {count}')


class Calls:
    """Records the calls of hooks, from any thread.

    :ivar made: (name of the action, hook), in the order of the calls
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.made: list[tuple[str | None, str]] = []

    def record(self, hook: str, returns: Any = None) -> Callable[..., Any]:
        """Return a hook that records its calls."""

        def called(context: Any, *arguments: Any) -> Any:
            with self._lock:
                self.made.append((context.name, hook))
            return returns(context, *arguments) if callable(returns) else returns

        return called

    def of(self, hook: str) -> list[str | None]:
        """Return the names of the actions for which a hook was called."""
        with self._lock:
            return [name for name, called in self.made if called == hook]


class KillableStore:
    """A worker's store, which a test can cut off as kill -9 would.

    Afterwards each call ends the calling thread; no write of the worker reaches the
    store.

    :param dies_before: the number of the commit before which the worker dies
    :param dies_after: the number of the commit after which the worker dies
    :ivar commits: the number of commits
    """

    def __init__(
        self,
        store: Store,
        dies_before: int | None = None,
        dies_after: int | None = None,
    ) -> None:
        self._store = store
        self._dies_before = dies_before
        self._dies_after = dies_after
        self._dead = threading.Event()
        self.commits = 0

    @property
    def dead(self) -> bool:
        """Return whether the worker is cut off."""
        return self._dead.is_set()

    def die(self) -> None:
        """Cut the worker off."""
        self._dead.set()

    def __getattr__(self, name: str) -> Any:
        if self.dead:
            raise SystemExit
        return getattr(self._store, name)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        """Begin a transaction; if the worker dies in it, roll it back."""
        if self.dead:
            raise SystemExit
        with self._store.transaction() as tx:
            yield tx
            # Still inside the transaction, which is rolled back if the worker dies
            # here.
            self.commits += 1
            if self.commits == self._dies_before:
                self.die()
            if self.dead:
                raise SystemExit
            number = self.commits
        if number == self._dies_after:
            self.die()
            raise SystemExit


def end_threads(worker: Worker) -> None:
    """End the threads of a dead worker, which in production end with their process.

    Otherwise they wake up again and again, and slow down all later tests.
    """
    worker._services.timers.stop(0)
    worker._services.chores.stop(0)
    worker.committer.stop(0)
    worker.dispatcher.stop()
    worker.lease.stop()


def stop_on(store: Store) -> None:
    """Stop all worlds on a store, before it is closed."""
    for world in _on.pop(store, ()):
        world.stop()


class Silent:
    """A messenger that sends nothing."""

    def send(self, lane: str, command: commands.Command) -> None:
        """Do nothing."""

    def broadcast(self, message: commands.Broadcast) -> None:
        """Do nothing."""


class _Process:
    """Implements `ports.WorkerProcess` for one worker of a world."""

    def __init__(self, world: 'World', killable_store: KillableStore) -> None:
        self._world = world
        self._killable_store = killable_store

    def broadcast(self, message: commands.Broadcast) -> None:
        self._world.deliver(message)

    def time_out(self, uuid: str) -> None:
        if not self._killable_store.dead:
            self._world.plans.time_out(uuid)

    def on_lease_lost(self, worker_id: str) -> None:
        self._world.record_lost_worker(worker_id)


class PausableClock(SystemClock):
    """The system clock, whose wall time can be paused.

    A test pauses it until a deadline may pass, so that it cannot pass earlier on a busy
    machine.
    """

    def __init__(self) -> None:
        super().__init__()
        self._paused_at: datetime.datetime | None = None

    def now(self) -> datetime.datetime:
        return self._paused_at or super().now()

    def pause(self) -> None:
        """Stop the wall time."""
        self._paused_at = super().now()

    def resume(self) -> None:
        """Return to the time of the machine."""
        self._paused_at = None


class World:
    """A system under test.

    :param store: any implementation
    :param types: name -> class of action types
    :param settings: of the workers; the default times are short
    """

    def __init__(
        self,
        store: Store,
        types: Mapping[str, type[ActionType]] | None = None,
        on_worker_loss: str = plan_states.RESUME,
        projection: Projection | None = None,
        **settings: Any,
    ) -> None:
        self.store = store
        _on.setdefault(store, []).append(self)
        self.clock = PausableClock()
        self.types = loader.Plugins.of(
            action_types={'nop': kind(), **(types or {})},
            destinations=lambda: WITH_LOOPBACK,
        )
        self.progress = PlanProgress(self)
        self.sent_messages: list[commands.Command | commands.Broadcast] = []
        self.plans = PlanOperations(
            store,
            self.types,
            self.progress,
            self.clock,
            self,
            on_worker_loss,
            projection,
        )
        #: The creator of the plans that are stored here.
        self.creator = LOCAL
        self.workers: list[Worker] = []
        self.lost: list[Worker] = []
        self._started: list[Worker] = []
        self._settings = {'max_parallel': 4, 'signal_grace': 0.2, **settings}
        self._killable_stores: dict[str, KillableStore] = {}
        self._condition = threading.Condition()
        self._is_awaited: Callable[[events.Event], bool] | None = None

    # Workers

    def may_revert(self, name: str) -> bool:
        """Return whether actions of a type are reverted, see `RevertTypes`."""
        return self.types.may_revert(name)

    def worker(
        self,
        *,
        lanes: Sequence[str] = ('applier',),
        store: Any = None,
        policies: PolicyChain | None = None,
        only_plan: str | None = None,
        projection: Projection | None = None,
        admission: AdmissionCheck | None = None,
        dies_before: int | None = None,
        dies_after: int | None = None,
        **settings: Any,
    ) -> Worker:
        """Start a worker.

        :param store: a wrapper of the store that fails or counts
        :param dies_before: see `KillableStore`, also for `dies_after`
        """
        killable_store = KillableStore(store or self.store, dies_before, dies_after)
        worker = Worker(
            killable_store,
            self.worker_types(killable_store),
            self.progress,
            self.clock,
            ExecutionSettings(**{**self._settings, **settings}),
            _Process(self, killable_store),
            host=f'host-{len(self.workers)}',
            lanes=lanes,
            policies=policies,
            only_plan=only_plan,
            projection=projection,
            admission=admission,
        )
        self._killable_stores[worker.record.uuid] = killable_store
        self.listen(worker)
        self._started.append(worker)
        worker.start()
        self.workers.append(worker)
        return worker

    def listen(self, worker: Worker) -> None:
        """Listen to the stored events of a worker before it starts."""
        worker.add_listener(self._on_stored)

    def _on_stored(self, stored: Sequence[events.Event]) -> None:
        # A worker that knows only that there are new events passes none.
        is_awaited = self._is_awaited
        if not stored or is_awaited is None or any(map(is_awaited, stored)):
            self.changed()

    def worker_types(self, store: Store) -> ActionTypes:
        """Return the action types of a worker that uses this store."""
        return self.types

    def is_dead(self, worker: Worker) -> bool:
        """Return whether a worker has died."""
        return self._killable_stores[worker.record.uuid].dead

    def disconnect(self, worker: Worker) -> None:
        """Cut a worker off from the store."""
        self._killable_stores[worker.record.uuid].die()

    def kill(self, worker: Worker) -> None:
        """Kill a worker as kill -9 would, and let its lease expire."""
        self._killable_stores[worker.record.uuid].die()
        end_threads(worker)
        self.workers.remove(worker)
        self.store.end_lease(worker.record.uuid)

    def stop(self) -> None:
        """Stop all workers, including lost ones, without waiting for their actions.

        Running actions no longer reach the store: on a server, the next world uses the
        same database.
        """
        for worker in (*self.workers, *self.lost):
            with contextlib.suppress(SystemExit):
                worker.stop(0)
        for killable_store in self._killable_stores.values():
            killable_store.die()
        # The stop of a dead worker aborts halfway, without an error.
        for worker in self._started:
            end_threads(worker)

    # Every worker receives every message, and handles those for its lanes.

    def send(self, lane: str, command: commands.Command) -> None:
        self.deliver(command)

    def broadcast(self, message: commands.Broadcast) -> None:
        self.deliver(message)

    def signal_action(self, uuid: str, signal: str) -> Action:
        return self.plans.signal_action(uuid, signal)

    def deliver(self, message: commands.Command | commands.Broadcast) -> None:
        """Deliver a message to all workers, as a bus would."""
        self.sent_messages.append(message)
        for worker in list(self.workers):
            worker.on_message(message)
        if self._is_awaited is None:
            self.changed()

    def changed(self) -> None:
        """Wake the threads that wait for a change."""
        with self._condition:
            self._condition.notify_all()

    def record_lost_worker(self, worker_id: str) -> None:
        """Record that a worker has lost its lease."""
        self.lost += [w for w in self._started if w.record.uuid == worker_id]
        self.changed()

    # Plans

    def create(self, *actions: Mapping[str, Any] | str, **plan: Any) -> ActionPlan:
        """Store a plan.

        :param actions: of the document; a name is short for a nop action of that name,
            and input_parameters may be omitted
        """
        listed = [
            {'name': action, 'action_type': 'nop'}
            if isinstance(action, str)
            else action
            for action in actions
        ]
        return self.plans.create(
            plan_document.from_mapping({**plan, 'actions': listed}),
            {'user': 'a test'},
            self.creator,
        )

    def start(self, *actions: Mapping[str, Any] | str, **plan: Any) -> ActionPlan:
        """Store a plan and start it."""
        return self.plans.start(self.create(*actions, **plan).uuid)

    def run(self, *actions: Mapping[str, Any] | str, **plan: Any) -> ActionPlan:
        """Run a new plan to its end, with a new worker if there is none."""
        if not self.workers:
            self.worker()
        return self.wait_until_ended(self.start(*actions, **plan))

    def wait_until_ended(self, plan: ActionPlan) -> ActionPlan:
        """Wait for the end of a plan, and return its final state."""
        return self.wait_for_plan(plan, *plan_states.ENDED)

    def wait_for_plan(self, plan: ActionPlan, *desired: str) -> ActionPlan:
        """Wait until a plan is in one of these states."""
        self.wait_until(
            lambda: self.store.get_plan(plan.uuid).state in desired,
            lambda: f'{self.store.get_plan(plan.uuid)}\n{self.report(plan)}',
            lambda event: event.subject == events.ACTION_PLAN,
        )
        return self.store.get_plan(plan.uuid)

    # Actions

    def add(self, *actions: Action, edges: Iterable[Edge] = ()) -> list[Action]:
        """Store actions without a plan, and notify their lane."""
        with self.store.transaction() as tx:
            ids = tx.insert_actions(actions, list(edges))
            tx.add_events(
                [
                    _created(action.stored(key))
                    for action, key in zip(actions, ids, strict=True)
                ]
            )
        self.deliver(commands.RunActions())
        return [a.stored(key) for a, key in zip(actions, ids, strict=True)]

    def new_action(self, name: str, action_type: str = 'nop', **values: Any) -> Action:
        """Return an action of the engine lane that is READY to be claimed."""
        return Action(
            id=0,
            uuid=events.new_uuid(),
            name=name,
            action_type=action_type,
            lane=ENGINE,
            status=states.READY,
            context={CREATOR: self.creator.as_mapping()},
            created_at=self.clock.now(),
        ).evolve(**values)

    def action(self, name: str) -> Action:
        """Return the last stored action with this name."""
        found = [a for a in self._actions() if a.name == name]
        return found[-1]

    def wait_for_action(self, name: str, *desired: str) -> Action:
        """Wait until an action exists and has one of these statuses."""
        self.wait_until(
            lambda: self.statuses().get(name) in desired,
            lambda: f'{name} is not {desired}\n{self.report()}',
        )
        return self.action(name)

    def statuses(self, plan: ActionPlan | None = None) -> dict[str | None, str]:
        """Return the status of each action by its name."""
        desired = plan.id if plan is not None else None
        return {
            a.name: a.status for a in self._actions() if desired in (None, a.plan_id)
        }

    def _actions(self) -> list[Action]:
        return self.store.list_actions(limit=100_000)

    def _unfinished(self) -> list[Action]:
        statuses = states.NOT_STARTED | states.STARTED
        return self.store.list_actions(statuses=statuses, limit=100_000)

    # Waiting

    def wait_until(
        self,
        condition: Callable[[], bool],
        shown: Callable[[], object] = lambda: 'the condition stayed false',
        is_awaited: Callable[[events.Event], bool] | None = None,
    ) -> None:
        """Wait for a condition, see `wait_for`; fail if it takes too long."""
        if not self.wait_for(condition, TIMEOUT, is_awaited):
            raise AssertionError(str(shown()))

    def wait_for(
        self,
        condition: Callable[[], bool],
        seconds: float,
        is_awaited: Callable[[events.Event], bool] | None = None,
    ) -> bool:
        """Wait for a condition with a timeout; return whether it holds.

        :param is_awaited: returns whether the condition may hold after an event; None:
            it may hold after each event and message
        """
        wait_until = time.monotonic() + seconds
        with self._condition:
            self._is_awaited = is_awaited
            while not condition():
                if time.monotonic() > wait_until:
                    return False
                # Changes without an event, such as the expiry of a lease, wake no
                # thread.
                self._condition.wait(0.05)
        return True

    # Events

    def history(self, plan: ActionPlan | None = None, *names: str) -> list[Line]:
        """Return the changes of state, in order.

        Uuids in messages are replaced by the names of the actions.

        :param names: only of these actions; 'plan' is the plan itself
        """
        return [
            line
            for line in self._lines(plan, {events.STATE_CHANGED})
            if not names or line[0] in names
        ]

    def report(self, plan: ActionPlan | None = None) -> Report:
        """Return all events, for the report of a failure."""
        kinds = set(events.KINDS)
        return Report(lambda: '\n'.join(str(line) for line in self._lines(plan, kinds)))

    def signals(self, plan: ActionPlan | None = None) -> list[tuple[str, str]]:
        """Return the stored signals as (name, signal)."""
        names = self._names()
        return [
            (names[event.action_id or 0], (event.detail or {})['signal'])
            for event in self.events(plan)
            if event.kind == events.SIGNALLED
        ]

    def events(self, plan: ActionPlan | None = None) -> list[events.Event]:
        """Return all events."""
        stored = self.store.list_events(
            plan_id=plan.id if plan is not None else None, limit=100_000
        )
        return [line.event for line in stored]

    def _names(self) -> dict[int, str]:
        return {a.id: a.name or a.uuid for a in self._actions()}

    def _lines(self, plan: ActionPlan | None, kinds: set[str]) -> list[Line]:
        names = self._names()
        by_uuid = {a.uuid: a.name or a.uuid for a in self._actions()}
        by_uuid |= {w.record.uuid: w.record.host for w in (*self.workers, *self.lost)}

        def replace_uuids(message: str | None) -> str | None:
            if message is None:
                return None
            return _UUID.sub(lambda m: by_uuid.get(m.group(), 'UUID'), message)

        return [
            (
                names[event.action_id] if event.action_id is not None else 'plan',
                event.old_status,
                event.new_status,
                replace_uuids(event.message),
            )
            for event in self.events(plan)
            if event.kind in kinds
        ]


def _created(action: Action) -> events.Event:
    return events.Event(
        events.ACTION,
        events.CREATED,
        None,
        action.id,
        None,
        action.status,
        None,
        None,
        None,
        action.created_at or SystemClock().now(),
    )


class WorldCase(base.TestCase):
    """The base case of tests of whole systems; each world is stopped at the end.

    Derive from it and override `make_store` to run the tests on another store.
    """

    def make_store(self) -> Store:
        """Return an empty store."""
        store = MemoryStore()
        # Registered first, so executed last: no worker runs any more.
        self.addCleanup(store.close)
        return store

    def create_world(
        self,
        types: Mapping[str, type[ActionType]] | None = None,
        on_worker_loss: str = plan_states.RESUME,
        **settings: Any,
    ) -> World:
        """Return a world with these action types and settings of its workers."""
        world = World(self.make_store(), types, on_worker_loss, **settings)
        self.addCleanup(world.stop)
        return world

    def create_gate(self, returns: Any = True) -> Gate:
        """Return a gate that is opened at the end of the test at the latest."""
        gate = Gate(returns)
        self.addCleanup(gate.open)
        return gate

    def create_gate_at(self, world: Any, operation: str, name: str) -> Gate:
        """Return a gate that blocks an operation of the handlers in a world."""
        gate = self.create_gate()
        world.external.gates[operation, name] = gate
        return gate

    def assert_history(
        self, expected: Sequence[Line], world: World, plan: ActionPlan, *names: str
    ) -> None:
        """Compare the changes of state of a plan, or of some of its actions."""
        self.assertEqual(list(expected), world.history(plan, *names))


def action(name: str, action_type: str = 'nop', **keys: Any) -> dict[str, Any]:
    """Return an action of a plan document."""
    return {'name': name, 'action_type': action_type, **keys}


def chain(*names: str, action_type: str = 'nop') -> list[dict[str, Any]]:
    """Return actions of a plan document, each with the preceding one as its parent."""
    return [
        action(name, action_type, parents=list(names[max(0, at - 1) : at]))
        for at, name in enumerate(names)
    ]


def ran(name: str, end: str = 'SUCCEEDED', message: str | None = None) -> list[Line]:
    """Return the changes of state of an executed action."""
    return [(name, 'READY', 'RUNNING', None), (name, 'RUNNING', end, message)]
