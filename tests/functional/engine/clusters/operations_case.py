"""The base case of the operations on clusters."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from tests.cluster_worlds import BY
from tests.operated_worlds import OperatedCase, OperatedWorld
from watcherlite import exceptions
from watcherlite.domain.clusters import Cluster, Owner
from watcherlite.engine.clusters.requests.values import RequestContext
from watcherlite.engine.clusters.services import ClusterLimits
from watcherlite.states import action as action_states

OTHERS = RequestContext(Owner('another-project'))


class OperationsCase(OperatedCase):
    """Nothing is executed: requested actions stay READY."""

    limits = ClusterLimits(nodes=5, clusters=3)

    def setUp(self) -> None:
        super().setUp()
        self.world.stop()
        self.world = OperatedWorld(self.make_store(), limits=self.limits)
        self.operations, self.by = self.world.operations, BY
        self.profile = self.world.profile()

    @contextlib.contextmanager
    def assert_refused(
        self, text: str, kind: type[Exception] = exceptions.BadRequest
    ) -> Iterator[None]:
        """Expect a rejection with exactly this text, and no changes."""
        before = self.all_objects()
        with self.assertRaises(exceptions.WatcherliteError) as caught:
            yield
        self.assertEqual((kind, text), (type(caught.exception), str(caught.exception)))
        self.assertEqual(before, self.all_objects())

    def all_objects(self) -> Any:
        store = self.world.store
        rows = [r for c in store.clusters_by_uuid(self.uuids()).values() for r in [c]]
        return rows, [a.uuid for a in self.world._actions()]

    def uuids(self) -> list[str]:
        return [str(action.target) for action in self.world._actions()]

    def inputs(self, begun: Any) -> Mapping[str, Any]:
        return self.world.store.get_action(begun.action).inputs

    def end_actions(self, cluster: Cluster) -> None:
        """End the running actions on a cluster."""
        for action in self.world._actions():
            if action.target == cluster.uuid and not action.finished:
                self.world.plans.signal_action(action.uuid, action_states.CANCEL)
