"""How fast stacks are created, updated and deleted: resources that do nothing."""

from collections.abc import Hashable, Sequence
from typing import Any

from tests.bench.cases import CHAIN, PARALLEL, PLACES
from tests.bench.operated import QUICK, SIZES, Case, New
from watcherlite import bootstrap
from watcherlite.domain.events import STACK, Event
from watcherlite.domain.stacks import NewStack, Stack

CREATE, UPDATE, DELETE = 'create', 'update', 'delete'
#: Of a type that does nothing, and whose `value` is updated in place.
_TYPE = 'OS::Heat::TestResource'


def cases(quick: bool = False) -> list[Case]:
    """Return what is measured, the small ones of each place and shape first."""
    return [
        Case(place, size, shape)
        for place in PLACES
        for shape in (PARALLEL, CHAIN)
        for size in (QUICK if quick else SIZES)
        # One resource is the same stack in both shapes.
        if size > 1 or shape == PARALLEL
    ]


def template(shape: str | None, size: int, value: str) -> dict[str, Any]:
    """Return a template of so many resources that do nothing."""
    resources: dict[str, Any] = {}
    for at in range(size):
        resources[f'r{at}'] = {'type': _TYPE, 'properties': {'value': value}}
        if shape == CHAIN and at:
            resources[f'r{at}']['depends_on'] = f'r{at - 1}'
    return {'heat_template_version': '2018-08-31', 'resources': resources}


class Stacks:
    """A stack and its resources; what ends is an operation on a stack, by its id."""

    operations: Sequence[str] = (CREATE, UPDATE, DELETE)

    def ending(self, event: Event) -> tuple[Hashable, str] | None:
        """See `operated.Subject`, and so for the others."""
        action, _, status = (event.new_status or '').partition('_')
        if event.subject != STACK or status not in ('COMPLETE', 'FAILED'):
            return None
        return (event.subject_id, action), status

    def owner(self, runtime: bootstrap.Runtime) -> str:
        return 'bench'

    def begin(
        self,
        runtime: bootstrap.Runtime,
        owner: str,
        new: New,
        operation: str,
        thing: Stack | None,
    ) -> tuple[Stack, Hashable, str]:
        operations = runtime.stacks
        wanted = template(new.case.shape, new.case.size, operation)
        if thing is None:
            stack = operations.create(NewStack(new.name, wanted), owner, 'bench')
        elif operation == UPDATE:
            stack = operations.update(thing.uuid, owner, NewStack(new.name, wanted))
        else:
            stack = operations.delete(thing.uuid, owner)
        return stack, (stack.id, operation.upper()), 'COMPLETE'
