"""The guarantee that no stack is ever stuck, tested by random runs."""

from tests.functional.db import stores
from tests.specs.database_case import OnDatabase
from tests.specs.stack_promises import PromiseCase
from tests.stack_chaos import StackChaos
from tests.stack_worlds import TENANT, StackWorldCase
from watcherlite.states import stack as states


class StackChaos(PromiseCase):
    """On any store."""

    #: The number of random runs.
    disorders = 5

    def test_no_action_is_stuck_after_any_fault(self) -> None:
        for seed in range(self.disorders):
            with self.subTest(seed=seed):
                disorder = StackChaos(self.make_store(), seed)
                self.addCleanup(disorder.stop)
                disorder.run()
                for stack in disorder.stacks:
                    self.assert_complete(disorder.world, stack)
                self.assert_resources_exist(disorder)
                self.assert_no_locks_left(disorder)
                disorder.stop()

    def assert_resources_exist(self, disorder: StackChaos) -> None:
        """Check that all resources with a COMPLETE state exist physically."""
        world, report = disorder.world, disorder.world.full_report()
        trees = [world.store.stack_tree(s.tree_id) for s in disorder.stacks]
        ids = [stack.id for tree in trees for stack in tree]
        rows = world.store.list_resources(ids)
        gone = [
            row.name
            for row in rows
            if row.nested_id is None
            and row.base.name in ('CREATE_COMPLETE', 'UPDATE_COMPLETE')
            and row.physical_id not in disorder.outside.things
        ]
        self.assertEqual([], gone, report)

    def assert_no_locks_left(self, disorder: StackChaos) -> None:
        """Check that every remaining lock can be unlocked, and every stack deleted."""
        world = disorder.world
        disorder.outside.reliable = True
        for stack in disorder.stacks:
            if world.reload(stack).deleted_at is not None:
                continue
            for inner in world.store.stack_tree(stack.tree_id):
                if inner.lock_level is not None:
                    world.act(inner, states.UNLOCK)
            world.stacks.delete(stack.uuid, TENANT)
            after = world.wait_until_settled(stack)
            self.assertEqual('DELETE_COMPLETE', after.state.name, after.status_reason)


class MemoryStackChaosTest(StackChaos, StackWorldCase):
    """On the in-memory store."""


class PostgresqlStackChaosTest(
    OnDatabase, StackChaos, StackWorldCase, stores.PostgresqlDatabase
):
    """On PostgreSQL."""

    disorders = 2
