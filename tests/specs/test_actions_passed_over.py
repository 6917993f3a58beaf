"""Claims that skip locked rows, on databases with row locks."""

from tests.functional.db.stores import MYSQL, POSTGRESQL, define_tests
from tests.functional.execution.test_worker import FailingStore, queues_of
from tests.specs.database_case import OnDatabase
from tests.worlds import WorldCase, chain
from watcherlite.domain.actions import APPLIER, ENGINE
from watcherlite.states import action as states


class LockedRows(OnDatabase):
    """A claim skips locked rows, even if the holder of the lock changes nothing."""

    def test_a_briefly_locked_action_is_claimed_without_a_sweep(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        (free,) = world.add(world.new_action('a'))
        store = FailingStore(world.store)

        with world.store.transaction() as tx:
            tx.lock_actions([free.id])
            worker = world.worker(lanes=(APPLIER, ENGINE), store=store)
            # Wait for the only sweep and for the last claim.
            world.wait_until(
                lambda: (
                    'active_plans' in store.asked
                    and not any(source.more for source in queues_of(worker))
                )
            )
            self.assertEqual({'a': states.READY}, world.statuses())

        world.wait_for_action('a', states.SUCCEEDED)

    def test_a_locked_plan_does_not_delay_other_plans(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        held, other = (world.start(*chain(*names)) for names in ('abc', 'xyz'))

        with world.store.transaction() as tx:
            tx.lock_plans([held.id])
            world.worker()
            world.wait_for_plan(other, 'SUCCEEDED')
            self.assertEqual('PENDING', world.store.get_plan(held.uuid).state)

        world.wait_for_plan(held, 'SUCCEEDED')


define_tests(__name__, LockedRows, after=(WorldCase,), on=(POSTGRESQL, MYSQL))
