"""The benchmark of clusters: create, check and delete no-op nodes."""

from collections.abc import Hashable, Sequence

from tests.bench.engine_operations import New
from watcherlite import bootstrap
from watcherlite.domain.clusters import Cluster, Owner
from watcherlite.domain.events import CLUSTER, Event
from watcherlite.engine.clusters.requests.values import ClusterRequest, RequestContext

CREATE, CHECK, DELETE = 'create', 'check', 'delete'
#: A no-op profile type.
SPEC = {'type': 'os.heat.test_resource', 'version': '1.0', 'properties': {}}
BY = RequestContext(Owner('bench'))


class Clusters:
    """Operations on clusters; the key of an end is the action UUID."""

    operations: Sequence[str] = (CREATE, CHECK, DELETE)
    shapes: Sequence[str | None] = (None,)

    def ending(self, event: Event) -> tuple[Hashable, str] | None:
        """See `engine_operations.Subject`, also for the other methods."""
        detail = event.detail or {}
        if event.subject != CLUSTER or detail.get('phase') == 'start':
            return None
        return detail['action']['uuid'], detail['phase']

    def owner(self, runtime: bootstrap.Runtime) -> str:
        return runtime.clusters.profiles.create('bench', SPEC, BY).uuid

    def request_operation(
        self,
        runtime: bootstrap.Runtime,
        owner: str,
        new: New,
        operation: str,
        sample: Cluster | None,
    ) -> tuple[Cluster, Hashable, str]:
        operations = runtime.clusters
        if sample is None:
            begun = operations.create(
                ClusterRequest(new.name, owner, new.case.size), BY
            )
        elif operation == CHECK:
            begun = operations.check(sample.uuid, BY, {})
        else:
            begun = operations.delete(sample.uuid, BY)
        return begun.row, begun.action, 'end'
