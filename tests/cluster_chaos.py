"""Random operations on clusters with injected faults.

A seed determines one sequence of events, as far as threads permit.
"""

import dataclasses
import random
import time
from collections.abc import Callable
from typing import Any

from tests.cluster_worlds import machine
from tests.fault_injection import SWEEP, FaultInjection
from tests.operated_worlds import OperatedWorld
from tests.stack_worlds import ExternalResources, HandlerError
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    ClusterRequest,
    NodeRequest,
)


class Unreliable(ExternalResources):
    """Physical resources that respond slowly, and sometimes fail.

    :ivar reliable: whether failures are switched off
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)
        self.reliable = False

    def record_call(self, operation: str, name: str) -> None:
        """Record a call after a random delay; fail at random."""
        super().record_call(operation, name)
        # The delay must block, since plugins can block uninterruptibly.
        time.sleep(self._random.choice([0.0, 0.005, 0.03]))
        fails = self._random.random() < 0.04
        if fails and operation != 'poll' and not self.reliable:
            raise HandlerError(f'{operation} of {name} does not work')


class ClusterChaos(FaultInjection):
    """Users, signals and worker losses at random in one world of clusters.

    :ivar accepted: the uuids of the accepted actions
    :ivar external: the physical resources of the nodes
    """

    def __init__(self, store: Store, seed: int) -> None:
        super().__init__(seed)
        self.external = Unreliable(seed)
        self.world: OperatedWorld = OperatedWorld(
            store,
            handlers={'Sample': machine(self.external)},
            sweep_interval=SWEEP,
            max_parallel=self._random.choice([1, 2, 4]),
            max_attempts=1000,
        )
        self.accepted: list[str] = []
        self.clusters: list[Cluster] = []
        self._profiles = [
            self.world.profile('p', value='old', wait=self._random.randrange(3)),
            self.world.profile('q', value='new'),
        ]

    def run(self) -> None:
        """Create clusters, run random operations, inject faults, wait for the end."""
        self._start_workers()
        for name in ('c', 'd')[: self._random.randrange(1, 3)]:
            size = self._random.randrange(4)
            new = ClusterRequest(name, self._profiles[0].uuid, desired_capacity=size)
            self.clusters.append(
                self._expect_end(self._operations.create(new, self._by))
            )
        steps: list[Callable[[], object]] = [
            *[self._request_on_cluster] * 6,
            *[self._request_on_node] * 4,
            *[self._signal] * 4,
            self._force,
            *[self._kill] * 2,
            self._drain,
            self._expire_lease,
        ]
        self._disturb(steps, self._random.randrange(10, 40), 8, self.world.full_report)

    # Operations of users

    @property
    def _operations(self) -> Any:
        return self.world.operations

    @property
    def _by(self) -> Any:
        return self.world.by

    def _expect_end(self, begun: Accepted[Any]) -> Any:
        self.accepted.append(begun.action)
        return begun.row

    def _request_on_cluster(self) -> None:
        name = self._random.choice(self.clusters).uuid
        by = dataclasses.replace(self._by, wait=self._chance(0.5))
        operations = self._operations
        count = self._random.randrange(1, 4)
        size = {'adjustment_type': 'EXACT_CAPACITY', 'number': count}
        profile = self._random.choice(self._profiles).uuid
        recover = {'check': self._chance(0.5), 'check_capacity': self._chance(0.5)}
        asked: list[Callable[[], Accepted[Any]]] = [
            lambda: operations.scale(name, by, 'CLUSTER_SCALE_OUT', count),
            lambda: operations.scale(name, by, 'CLUSTER_SCALE_IN', count),
            lambda: operations.resize(name, by, size),
            lambda: operations.update(name, by, {'profile_id': profile}),
            lambda: operations.check(name, by),
            lambda: operations.recover(name, by, recover),
            lambda: operations.operate(name, by, 'reboot', {}, {}),
        ]
        if self._chance(0.05):
            asked = [lambda: operations.delete(name, by, force=self._chance(0.5))]
        self._expect_end(self._random.choice(asked)())

    def _node(self) -> Node:
        found = self.world.nodes(self._random.choice(self.clusters))
        if not found:
            raise exceptions.NotFound('There is none.')
        return self._random.choice(found)

    def _request_on_node(self) -> None:
        nodes, by = self._operations.nodes, self._by
        if self._chance(0.3):
            cluster = self._random.choice([None, *(c.uuid for c in self.clusters)])
            new = NodeRequest(f'n{len(self.accepted)}', self._profiles[0].uuid, cluster)
            self._expect_end(nodes.create(new, by))
            return
        name = self._node().uuid
        by = dataclasses.replace(by, wait=self._chance(0.5))
        asked: list[Callable[[], Accepted[Any]]] = [
            lambda: nodes.check(name, by),
            lambda: nodes.recover(name, by, {'check': True}),
            lambda: nodes.update(name, by, {'tainted': True}),
            lambda: nodes.delete(name, by, force=self._chance(0.5)),
        ]
        self._expect_end(self._random.choice(asked)())

    # Faults

    def _force(self) -> None:
        uuid = self._unfinished().uuid
        self._operations.actions.update(uuid, self._by, 'CANCELLED', force=True)
