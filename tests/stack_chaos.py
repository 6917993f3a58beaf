"""Random operations on stacks with injected faults.

A seed determines one sequence of events, as far as threads permit.
"""

import contextlib
from collections.abc import Callable
from typing import Any

from tests.cluster_chaos import Unreliable
from tests.fault_injection import SWEEP, FaultInjection
from tests.stack_worlds import TENANT, StackWorld, res, sample
from watcherlite.db.api import Store
from watcherlite.domain.stacks import Stack
from watcherlite.states import stack as states

#: Operations requested with `act`.
OPERATIONS = (
    states.CHECK,
    states.SUSPEND,
    states.RESUME,
    states.LOCK,
    states.UNLOCK,
    states.UNLOCK,
)


class StackChaos(FaultInjection):
    """Users, signals and worker losses at random in one world of stacks.

    :ivar external: the physical resources
    """

    def __init__(self, store: Store, seed: int) -> None:
        super().__init__(seed)
        self.external = Unreliable(seed)
        self.world: StackWorld = StackWorld(
            store,
            {'Sample': sample(self.external)},
            sweep_interval=SWEEP,
            max_parallel=self._random.choice([1, 2, 4]),
            max_attempts=1000,
        )
        self.stacks: list[Stack] = []

    def run(self) -> None:
        """Create stacks, request random operations, inject faults, wait for the end."""
        self._start_workers()
        for name in ('s', 't')[: self._random.randrange(1, 3)]:
            self.stacks.append(
                self.world.start_creation(self._resources(), name, **self._keys())
            )
        steps = self._steps()
        if self._chance(0.3):
            steps.append(self._delete)
        self._disturb(steps, self._random.randrange(10, 40), 8, self.world.full_report)

    def _steps(self) -> list[Callable[[], object]]:
        """Return the random operations and faults."""
        return [
            *[self._update] * 4,
            *[self._act] * 6,
            *[self._mark] * 2,
            *[self._signal_group] * 3,
            self._cancel,
            *[self._signal] * 3,
            *[self._kill] * 2,
            self._drain,
            self._expire_lease,
        ]

    # Operations of users

    def _resources(self) -> dict[str, Any]:
        """Return resources with random dependencies, and sometimes a group."""
        names = [f'r{n}' for n in range(self._random.randrange(1, 6))]
        found: dict[str, Any] = {}
        for at, name in enumerate(names):
            needs = [n for n in names[:at] if self._chance(0.4)]
            keys: dict[str, Any] = {'value': str(self._random.randrange(3))}
            keys['wait'] = self._random.choice([0, 0, 2])
            if self._chance(0.3):
                keys['fixed'] = str(self._random.randrange(2))
            found[name] = res(**keys, _depends_on=needs)
        if self._chance(0.6):
            found['g'] = res('Group', count=self._random.randrange(4))
        return found

    def _keys(self) -> dict[str, Any]:
        """Return the other arguments of a creation or an update."""
        return {}

    def _stack(self) -> Stack:
        chosen = self._random.choice(self.stacks)
        inside = self.world.store.stack_tree(chosen.tree_id)
        return self._random.choice([chosen, chosen, *inside])

    def _update(self) -> None:
        stack = self._random.choice(self.stacks)
        keys = {'disable_rollback': self._chance(0.5), **self._keys()}
        self.world.start_update(stack, self._resources(), **keys)

    def _act(self) -> None:
        operation = self._random.choice(OPERATIONS)
        self.world.stacks.start_operation(self._stack().uuid, TENANT, operation)

    def _delete(self) -> None:
        self.world.stacks.delete(self._stack().uuid, TENANT)

    def _cancel(self) -> None:
        stack = self._random.choice(self.stacks)
        self.world.stacks.cancel(stack.uuid, TENANT, rollback=self._chance(0.5))

    def _mark(self) -> None:
        stack = self._stack()
        rows = self.world.store.list_resources([stack.id])
        if rows:
            name = self._random.choice(rows).name
            self.world.mark(stack, name, unhealthy=self._chance(0.7))

    def _signal_group(self) -> None:
        stack, count = self._random.choice(self.stacks), self._random.randrange(4)
        self.world.stacks.signal(stack.uuid, TENANT, 'g', {'count': count})


class HookedStackChaos(StackChaos):
    """The same with hooks, which users clear at random, and at the end all of them."""

    def _steps(self) -> list[Callable[[], object]]:
        return [*super()._steps(), *[self._clear_hooks] * 12]

    def _keys(self) -> dict[str, Any]:
        chosen = [hook for hook in states.HOOKED_ACTIONS if self._chance(0.4)]
        name = self._random.choice(['*', 'r0', 'r[12]', 'g'])
        entry = {'hooks': chosen, 'm*': {'hooks': chosen}}
        return {'environment': {'resource_registry': {'resources': {name: entry}}}}

    def _clear_hooks(self) -> None:
        """Clear all hooks at which resources wait."""
        store = self.world.store
        for stack in [s for own in self.stacks for s in store.stack_tree(own.tree_id)]:
            for row in store.waiting_resources([stack.id]):
                with contextlib.suppress(*self.refusals):
                    self.world.stacks.signal(
                        stack.uuid, TENANT, row.name, {'unset_hook': row.hook}
                    )

    def _is_settled(self) -> bool:
        self._clear_hooks()
        return super()._is_settled()
