"""A world in which audits propose plans; see `tests.worlds`."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from tests.factories import all_plans
from tests.worlds import Gate, World, WorldCase, kind
from watcherlite.applier.operations import PlanOperations
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import Audit, AuditRequest
from watcherlite.domain.solutions import Solution
from watcherlite.engine.action_types import EngineActionTypes
from watcherlite.engine.audits import goal_sync
from watcherlite.engine.audits.operations import AuditOperations
from watcherlite.engine.audits.proposal import ProposalBuilder
from watcherlite.engine.audits.reconciler import AuditReconciler, ReconcilerSettings
from watcherlite.engine.audits.runs import AuditRun, RunServices
from watcherlite.engine.audits.templates import TemplateOperations
from watcherlite.execution.ports import ActionTypes
from watcherlite.execution.worker import Worker
from watcherlite.plugins import base, loader
from watcherlite.plugins.action_types.nop import Nop
from watcherlite.plugins.goals import measured, simple
from watcherlite.plugins.planners.graph import Graph
from watcherlite.plugins.planners.weight import Weight
from watcherlite.plugins.scoring_engines.dummy import DummyScorer
from watcherlite.plugins.strategies.actuator import Actuator
from watcherlite.plugins.strategies.dummy import Dummy
from watcherlite.states import audit as states
from watcherlite.testing.clock import ManualClock

#: The lease in worlds whose clock is advanced by hours.
FOREVER = 10**8


def strategy(
    execute: Callable[[Any], Any] | None = None, /, **members: Any
) -> type[base.Strategy]:
    """Return a strategy for the goal dummy; by default it proposes one nop."""

    def propose(self: Any, context: Any) -> Any:
        if execute is not None:
            return execute(context)
        return propose_actions('nop')

    members.setdefault('goal', 'dummy')
    return type('StrategyOfFunction', (base.Strategy,), {'execute': propose, **members})


def propose_actions(*action_types: str) -> Solution:
    """Return a solution with an action of each of these types."""
    solution = Solution()
    for at, action_type in enumerate(action_types):
        solution.add_action(action_type, {'message': str(at)})
    return solution


class AuditWorld(World):
    """A system whose workers run audits.

    :ivar clock: advanced by the test
    """

    clock: Clock

    def __init__(
        self,
        store: Store,
        clock: Clock,
        strategies: Mapping[str, type] | None = None,
        goals: Mapping[str, type] | None = None,
        planners: Mapping[str, type] | None = None,
        types: Mapping[str, type] | None = None,
        expiry: float = 24.0,
        **settings: Any,
    ) -> None:
        super().__init__(store, **{'lease': FOREVER, 'linger': 0.0, **settings})
        self.clock = clock
        self.types = loader.Plugins.of(
            action_types={'nop': Nop, 'sleep': kind(), **(types or {})},
            goals={
                'dummy': simple.Dummy,
                'unclassified': simple.Unclassified,
                'server_consolidation': measured.ServerConsolidation,
                **(goals or {}),
            },
            strategies={'dummy': Dummy, 'actuator': Actuator, **(strategies or {})},
            scoring_engines={'dummy_scorer': DummyScorer},
            planners={'weight': Weight, 'graph': Graph, **(planners or {})},
        )
        self.plans = PlanOperations(store, self.types, self.progress, self.clock, self)
        self.audits = AuditOperations(store, self.types, clock, self)
        self.templates = TemplateOperations(store, self.types, clock)
        self.reconciler = AuditReconciler(
            store, clock, self, 'the-upkeep', ReconcilerSettings(expiry)
        )
        self.models: dict[str, Any] = {}
        goal_sync.sync(store, self.types, clock)

    def worker_types(self, store: Store) -> ActionTypes:
        parts = RunServices(
            store,
            ProposalBuilder(store, self.types, self.types, self.models),
            self,
            'alpha',
        )
        return EngineActionTypes.of(self.types, functools.partial(AuditRun, parts))

    def listen(self, worker: Worker) -> None:
        super().listen(worker)
        worker.add_listener(self.reconciler.on_stored)

    def engine(self, **keys: Any) -> Worker:
        """Start a worker that serves both lanes."""
        return self.worker(lanes=('applier', 'engine'), **keys)

    def audit(self, **keys: Any) -> Audit:
        """Store an audit; by default ONESHOT, with the goal and the strategy dummy."""
        desired = {'audit_type': 'ONESHOT', 'name': 'the audit', **keys}
        if 'goal' not in desired and 'audit_template' not in desired:
            desired |= {'goal': 'dummy'}
        if desired.get('goal') == 'dummy':
            desired.setdefault('strategy', 'dummy')
        return self.audits.create(AuditRequest(**desired), {'user': 'a test'})

    def reload(self, audit: Audit) -> Audit:
        """Return the current state of an audit."""
        return self.store.get_audit(audit.uuid)

    def wait_for_audit(self, audit: Audit, *desired: str) -> Audit:
        """Wait until an audit is in one of these states."""
        self.wait_until(
            lambda: self.reload(audit).state in desired,
            lambda: f'{self.reload(audit)}\n{self.all_events()}',
        )
        return self.reload(audit)

    def wait_for_audit_end(self, audit: Audit) -> Audit:
        """Wait until an audit and its action have ended."""
        ended = self.wait_for_audit(audit, *states.ENDED)
        self.wait_until_idle(audit)
        return ended

    def wait_until_idle(self, audit: Audit) -> None:
        """Wait until no worker owns the action of an audit."""
        self.wait_until(
            lambda: all(a.owner is None for a in self._of(audit)),
            lambda: self.all_events(),
        )

    def wait_for_runs(self, audit: Audit, count: int) -> Audit:
        """Wait until this number of runs of an audit has ended, with any result."""
        self.wait_until(
            lambda: (
                self.runs_of(audit) >= count
                and all(a.owner is None for a in self._of(audit))
            ),
            lambda: f'{self.runs_of(audit)} runs\n{self.all_events()}',
        )
        return self.reload(audit)

    def runs_of(self, audit: Audit) -> int:
        """Return the number of ended runs of the actions of an audit."""
        ids = {action.id for action in self._of(audit)}
        return sum(
            event.action_id in ids
            and event.kind == events.STATE_CHANGED
            and event.old_status == 'RUNNING'
            for event in self.events()
        )

    def _of(self, audit: Audit) -> list[Any]:
        return [a for a in self._actions() if a.inputs.get('audit') == audit.uuid]

    def plans_of(self, audit: Audit) -> list[ActionPlan]:
        """Return the plans of an audit, the oldest first."""
        plans = all_plans(self.store)
        return [plan for plan in plans if plan.audit_id == audit.id]

    def audit_events(self, audit: Audit) -> list[Any]:
        """Return the events of an audit: (kind or step, state, message)."""
        return [
            (
                (event.detail or {}).get('step', event.kind),
                event.new_status,
                event.message,
            )
            for event in self.events()
            if event.subject == events.AUDIT and event.subject_id == audit.id
        ]

    def all_events(self) -> list[str]:
        """Return all events, one line each: subject, kind or step, states."""
        return [
            ' '.join(
                str(part)
                for part in (
                    event.subject,
                    (event.detail or {}).get('step', event.kind),
                    event.old_status,
                    event.new_status,
                )
                if part is not None
            )
            for event in self.events()
        ]


class AuditCase(WorldCase):
    """The base case of tests of audits."""

    def create_audit_world(self, **keys: Any) -> AuditWorld:
        """Return a world whose clock stands still."""
        self.clock = ManualClock()
        world = AuditWorld(self.make_store(), self.clock, **keys)
        self.addCleanup(world.stop)
        return world

    def create_engine_world(self, **keys: Any) -> AuditWorld:
        """Return a world with one worker that serves both lanes, and the reconciler."""
        world = self.create_audit_world(**keys)
        world.reconciler.start()
        self.addCleanup(world.reconciler.stop)
        world.engine()
        return world

    def create_listener(self) -> tuple[Gate, type[base.Strategy]]:
        """Return an open gate, and a strategy that passes it and then sleeps."""
        gate = self.create_gate()
        gate.open()

        def listen(context: Any) -> None:
            gate()
            context.sleep(10**6)

        return gate, strategy(listen)

    def pass_time(self, world: AuditWorld, audit: Audit, seconds: float) -> Audit:
        """Advance the clock, and wait for the run that becomes due."""
        count = world.runs_of(audit)
        self.clock.advance(seconds)
        return world.wait_for_runs(audit, count + 1)
