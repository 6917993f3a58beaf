"""The promises of the design for stacks, on PostgreSQL; and what they cost."""

from typing import Any

from tests.functional.db import stores
from tests.specs.cost_case import CostCase, Costs, EndListener
from tests.specs.database_case import OnDatabase
from tests.specs.test_promises_stacks import StackPromises
from tests.stack_worlds import TENANT, StackWorldCase, res
from watcherlite.domain.events import STACK, Event
from watcherlite.domain.stacks import Stack


class PostgresqlStackPromisesTest(
    OnDatabase, StackPromises, StackWorldCase, stores.PostgresqlDatabase
):
    """On PostgreSQL."""

    every = 31


def ended_stack(event: Event) -> str | None:
    """Return the new state of a stack."""
    return event.new_status if event.subject == STACK else None


def flat(size: int, value: str) -> dict[str, Any]:
    """Return resources that need nothing of each other."""
    return {f'r{at}': res(value=value) for at in range(size)}


def chain(size: int, value: str) -> dict[str, Any]:
    """Return resources each of which needs the one before."""
    found = flat(size, value)
    for at in range(1, size):
        found[f'r{at}']['depends_on'] = [f'r{at - 1}']
    return found


def fan(size: int, value: str) -> dict[str, Any]:
    """Return resources all of which the last one needs, and reads."""
    found = flat(size, value)
    read = [{'get_attr': [name, 'output']} for name in found]
    found['last'] = res(value={'list_join': [',', read]})
    return found


class CostTest(CostCase, StackWorldCase):
    """The cost of a resource does not grow with their number."""

    def costs_of(self, shape: Any, size: int) -> Costs:
        """Return the costs of each resource of a stack."""
        world = self.a_stack_world(sweep_interval=3600.0, lease=600.0)
        ends = EndListener(ended_stack)
        world.worker().add_listener(ends.hear)

        begun: list[Stack] = []

        def create() -> bool:
            begun.append(world.begin(shape(size, 'v')))
            return ends.wait_for('CREATE_COMPLETE')

        def update() -> bool:
            world.begin_change(begun[0], shape(size, 'w'))
            return ends.wait_for('UPDATE_COMPLETE')

        def delete() -> bool:
            world.stacks.delete(begun[0].uuid, TENANT)
            return ends.wait_for('DELETE_COMPLETE')

        operations = {'create': create, 'update': update, 'delete': delete}
        found = self.costs(operations, size)
        world.stop()
        return found

    def test_of_those_that_need_nothing_of_each_other(self) -> None:
        self.assert_steady(self.costs_of(flat, 10), self.costs_of(flat, 200))

    def test_of_those_that_need_the_one_before(self) -> None:
        self.assert_steady(self.costs_of(chain, 10), self.costs_of(chain, 100))

    def test_of_those_that_one_needs(self) -> None:
        self.assert_steady(self.costs_of(fan, 10), self.costs_of(fan, 100))
