"""How fast clusters are created, checked and deleted: nodes that do nothing."""

from collections.abc import Hashable, Sequence

from tests.bench.cases import PLACES
from tests.bench.operated import QUICK, SIZES, Case, New
from watcherlite import bootstrap
from watcherlite.domain.clusters import Cluster, Owner
from watcherlite.domain.events import CLUSTER, Event
from watcherlite.engine.clusters.requests.values import NewCluster, RequestContext

CREATE, CHECK, DELETE = 'create', 'check', 'delete'
#: Of a type that does nothing.
SPEC = {'type': 'os.heat.test_resource', 'version': '1.0', 'properties': {}}
BY = RequestContext(Owner('bench'))


def cases(quick: bool = False) -> list[Case]:
    """Return what is measured, the small ones of each place first."""
    return [
        Case(place, size) for place in PLACES for size in (QUICK if quick else SIZES)
    ]


class Clusters:
    """A cluster and its nodes; what ends is an action, by its uuid."""

    operations: Sequence[str] = (CREATE, CHECK, DELETE)

    def ending(self, event: Event) -> tuple[Hashable, str] | None:
        """See `operated.Subject`, and so for the others."""
        detail = event.detail or {}
        if event.subject != CLUSTER or detail.get('phase') == 'start':
            return None
        return detail['action']['uuid'], detail['phase']

    def owner(self, runtime: bootstrap.Runtime) -> str:
        return runtime.clusters.profiles.create('bench', SPEC, BY).uuid

    def begin(
        self,
        runtime: bootstrap.Runtime,
        owner: str,
        new: New,
        operation: str,
        thing: Cluster | None,
    ) -> tuple[Cluster, Hashable, str]:
        operations = runtime.clusters
        if thing is None:
            begun = operations.create(NewCluster(new.name, owner, new.case.size), BY)
        elif operation == CHECK:
            begun = operations.check(thing.uuid, BY, {})
        else:
            begun = operations.delete(thing.uuid, BY)
        return begun.row, begun.action, 'end'
