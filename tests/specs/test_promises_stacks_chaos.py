"""The guarantee that no stack is ever stuck, tested by random runs."""

from tests.functional.db import stores
from tests.specs.database_case import OnDatabase
from tests.specs.stack_promises import PromiseCase
from tests.stack_chaos import HookedStackChaos, StackChaos
from tests.stack_worlds import TENANT, StackWorldCase
from watcherlite.db.query import Query
from watcherlite.states import stack as states


class StackChaosPromises(PromiseCase):
    """On any store."""

    #: The number of random runs.
    runs = 5

    def test_no_action_is_stuck_after_any_fault(self) -> None:
        for seed in range(self.runs):
            with self.subTest(seed=seed):
                chaos = StackChaos(self.make_store(), seed)
                self.addCleanup(chaos.stop)
                chaos.run()
                for stack in chaos.stacks:
                    self.assert_complete(chaos.world, stack)
                self.assert_resources_exist(chaos)
                self.assert_no_locks_left(chaos)
                chaos.stop()

    def test_no_resource_waits_after_its_hooks_were_cleared(self) -> None:
        for seed in range(self.runs):
            with self.subTest(seed=seed):
                chaos = HookedStackChaos(self.make_store(), seed)
                self.addCleanup(chaos.stop)
                chaos.run()
                for stack in chaos.stacks:
                    self.assert_complete(chaos.world, stack)
                self.assert_resources_exist(chaos)
                stacks = chaos.world.store.list_stacks(Query(nested=True))
                ids = [listed.stack.id for listed in stacks]
                self.assertEqual([], chaos.world.store.waiting_resources(ids))
                chaos.stop()

    def assert_resources_exist(self, chaos: StackChaos) -> None:
        """Check that all resources with a COMPLETE state exist physically."""
        world, report = chaos.world, chaos.world.full_report()
        trees = [world.store.stack_tree(s.tree_id) for s in chaos.stacks]
        ids = [stack.id for tree in trees for stack in tree]
        rows = world.store.list_resources(ids)
        gone = [
            row.name
            for row in rows
            if row.nested_id is None
            and row.base.name in ('CREATE_COMPLETE', 'UPDATE_COMPLETE')
            and row.physical_id not in chaos.external.samples
        ]
        self.assertEqual([], gone, report)

    def assert_no_locks_left(self, chaos: StackChaos) -> None:
        """Check that every remaining lock can be unlocked, and every stack deleted."""
        world = chaos.world
        chaos.external.reliable = True
        for stack in chaos.stacks:
            if world.reload(stack).deleted_at is not None:
                continue
            for inner in world.store.stack_tree(stack.tree_id):
                # The unlock of a stack around it may have unlocked it.
                if world.reload(inner).lock_level is not None:
                    world.act(inner, states.UNLOCK)
            world.stacks.delete(stack.uuid, TENANT)
            after = world.wait_until_settled(stack)
            self.assertEqual('DELETE_COMPLETE', after.state.name, after.status_reason)


class MemoryStackChaosTest(StackChaosPromises, StackWorldCase):
    """On the in-memory store."""


class PostgresqlStackChaosTest(
    OnDatabase, StackChaosPromises, StackWorldCase, stores.PostgresqlDatabase
):
    """On PostgreSQL."""

    runs = 2
