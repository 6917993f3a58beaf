"""The benchmark of stacks: create, update and delete no-op resources."""

from collections.abc import Hashable, Sequence
from typing import Any

from tests.bench.cases import CHAIN, PARALLEL
from tests.bench.engine_operations import New
from watcherlite import bootstrap
from watcherlite.domain.events import STACK, Event
from watcherlite.domain.stacks import Stack, StackRequest

CREATE, UPDATE, DELETE = 'create', 'update', 'delete'
#: A no-op resource type whose `value` is updated in place.
_TYPE = 'OS::Heat::TestResource'


def template(shape: str | None, size: int, value: str) -> dict[str, Any]:
    """Return a template of `size` no-op resources."""
    resources: dict[str, Any] = {}
    for at in range(size):
        resources[f'r{at}'] = {'type': _TYPE, 'properties': {'value': value}}
        if shape == CHAIN and at:
            resources[f'r{at}']['depends_on'] = f'r{at - 1}'
    return {'heat_template_version': '2018-08-31', 'resources': resources}


class Stacks:
    """Operations on stacks; the key of an end is the stack id."""

    operations: Sequence[str] = (CREATE, UPDATE, DELETE)
    shapes: Sequence[str | None] = (PARALLEL, CHAIN)

    def ending(self, event: Event) -> tuple[Hashable, str] | None:
        """See `engine_operations.Subject`, also for the other methods."""
        action, _, status = (event.new_status or '').partition('_')
        if event.subject != STACK or status not in ('COMPLETE', 'FAILED'):
            return None
        return (event.subject_id, action), status

    def owner(self, runtime: bootstrap.Runtime) -> str:
        return 'bench'

    def request_operation(
        self,
        runtime: bootstrap.Runtime,
        owner: str,
        new: New,
        operation: str,
        sample: Stack | None,
    ) -> tuple[Stack, Hashable, str]:
        operations = runtime.stacks
        desired = template(new.case.shape, new.case.size, operation)
        if sample is None:
            stack = operations.create(StackRequest(new.name, desired), owner, 'bench')
        elif operation == UPDATE:
            stack = operations.update(
                sample.uuid, owner, StackRequest(new.name, desired)
            )
        else:
            stack = operations.delete(sample.uuid, owner)
        return stack, (stack.id, operation.upper()), 'COMPLETE'
