"""Random plans with injected faults.

A seed determines one sequence of events, as far as threads permit.
"""

import threading
from collections.abc import Callable
from typing import Any

from tests.fault_injection import FaultInjection
from tests.worlds import World, action, kind, raises
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.outcomes import (
    Derived,
    DerivedAction,
    Done,
    Failed,
    InProgress,
    Retry,
)
from watcherlite.states import action_plan as plan_states


class Chaos(FaultInjection):
    """Plans that run in one world with injected faults.

    :ivar starts: the names of the executed actions, one entry per execution
    """

    refusals = (exceptions.Conflict,)

    def __init__(self, store: Store, seed: int) -> None:
        super().__init__(seed)
        self._lock = threading.Lock()
        self.starts: list[str] = []
        self.world = World(
            store,
            self._types(),
            self._random.choice(['resume', 'resume', 'fail', 'cancel']),
            sweep_interval=0.05,
            max_parallel=self._random.choice([1, 2, 4]),
            max_attempts=1000,
        )
        self.plans: list[ActionPlan] = []

    # Action types

    def _types(self) -> dict[str, Any]:
        def does(context: Any) -> bool:
            with self._lock:
                self.starts.append(context.name)
            context.sleep(self._random.choice([0.0, 0.001, 0.01]))
            return True

        def busy(context: Any) -> Any:
            return True if context.attempt > 2 else Retry('busy', 0.002)

        def poll(context: Any, token: int) -> Any:
            return Done() if token > 2 else InProgress(token + 1, 0.002)

        def reverts(context: Any) -> bool:
            context.sleep(0.001)
            return True

        gone = exceptions.ActionSkipException('gone')
        return {
            'unsafe': kind(execute=does),
            'safe': kind(execute=does, idempotent=True, revert=reverts),
            'checkable': kind(
                execute=does, is_applied=lambda c: self._chance(0.5), revert=reverts
            ),
            'busy': kind(execute=busy, idempotent=True),
            'external': kind(
                execute=lambda c: InProgress(0, 0.002),
                poll=poll,
                cancel=lambda c, token: None,
            ),
            'derives': kind(execute=self._derive, idempotent=True),
            'gone': kind(pre_condition=raises(gone)),
            'fails': kind(execute=lambda c: Failed('no disk')),
        }

    def _derive(self, context: Any) -> Derived:
        keys = [f'{context.name}.{n}' for n in range(self._random.randrange(4))]
        return Derived(
            tuple(
                DerivedAction(
                    key,
                    self._random.choice(['unsafe', 'safe', 'external', 'fails']),
                    parents=tuple(k for k in keys[:at] if self._chance(0.4)),
                    needs=self._random.choice(['success', 'completion']),
                )
                for at, key in enumerate(keys)
            )
        )

    def _plan(self, number: int) -> ActionPlan:
        names = [f'p{number}-{n}' for n in range(self._random.randrange(3, 25))]
        kinds = [name for name in self._types() if name != 'nop']
        actions = []
        for at, name in enumerate(names):
            near = names[max(0, at - 4) : at]
            keys: dict[str, Any] = {'parents': [n for n in near if self._chance(0.35)]}
            if self._chance(0.2):
                keys['target'] = self._random.choice(['x', 'y'])
            actions.append(action(name, self._random.choice(kinds), **keys))
        limit = {'max_parallel': self._random.randrange(1, 4)}
        plan = self.world.create(
            *actions,
            on_failure=self._random.choice(sorted(plan_states.ON_FAILURE)),
            **(limit if self._chance(0.4) else {}),
        )
        for name in names:
            if self._chance(0.1):
                self.world.plans.skip_action(self.world.action(name).uuid)
        return self.world.plans.start(plan.uuid)

    # Faults

    def run(self) -> None:
        """Run plans, inject faults, and wait for their end."""
        self._start_workers()
        self.plans = [self._plan(n) for n in range(self._random.randrange(1, 3))]
        disturbances: list[Callable[[], None]] = [
            *[self._signal] * 5,
            self._cancel_a_plan,
            *[self._kill] * 2,
            self._drain,
            self._expire_lease,
        ]
        self._disturb(disturbances, self._random.randrange(20), 6, self.world.report)

    def _is_over(self) -> bool:
        return all(
            self.world.store.get_plan(p.uuid).state in plan_states.ENDED
            for p in self.plans
        )

    def _is_settled(self) -> bool:
        self._release_suspended()
        return self._is_over()

    def _cancel_a_plan(self) -> None:
        self.world.plans.cancel(self._random.choice(self.plans).uuid)
