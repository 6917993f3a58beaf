"""Resources of stacks while the database is occasionally busy."""

import collections
from collections.abc import Callable
from typing import Any

from tests.stack_worlds import TENANT, StackWorldCase, res
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.plugins.resource_handlers.auto_scaling_group import AutoScalingGroup
from watcherlite.plugins.resource_handlers.scaling_policy import ScalingPolicy


class Busy:
    """A store in which every other read fails as busy."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: collections.Counter[str] = collections.Counter()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name not in ('list_resources', 'stacks_by_id', 'get_definition'):
            return found
        return self._fail_sometimes(name, found)

    def _fail_sometimes(
        self, name: str, found: Callable[..., Any]
    ) -> Callable[..., Any]:
        def read(*args: Any, **keys: Any) -> Any:
            self._asked[name] += 1
            if self._asked[name] % 2:
                raise exceptions.StoreConflict('busy')
            return found(*args, **keys)

        return read


class TestBusy(StackWorldCase):
    def test_group_operations_survive_a_busy_database(self) -> None:
        world = self.create_stack_world(
            {'ASG': AutoScalingGroup, 'Policy': ScalingPolicy}
        )
        world.worker(store=Busy(world.store))
        resources = {
            'g': res(
                'ASG', min_size=1, max_size=4, resource={'type': 'Sample'}, cooldown=0
            ),
            'up': res(
                'Policy',
                auto_scaling_group_id={'get_resource': 'g'},
                adjustment_type='change_in_capacity',
                scaling_adjustment=1,
            ),
        }

        stack = world.make(resources)
        self.assertEqual('CREATE_COMPLETE', stack.state.name, stack.status_reason)
        world.stacks.signal(stack.uuid, TENANT, 'up', {})
        world.wait_until_settled(stack)
        after = world.change(stack, resources)

        self.assertEqual('UPDATE_COMPLETE', after.state.name, after.status_reason)
        self.assertEqual(2, len(world.ids(world.nested(stack, 'g'))))
