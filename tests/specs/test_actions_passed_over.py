"""What somebody held when a worker looked for it, on databases where that can be."""

from tests.functional.db import stores
from tests.specs.database_case import OnDatabase
from tests.unit.execution.test_worker import Deaf, sources_of
from tests.worlds import WorldCase
from watcherlite.domain.actions import APPLIER, ENGINE
from watcherlite.states import action as states


class PassedOver(OnDatabase):
    """A claim passes over what is held, be it by one who changes nothing."""

    def test_what_was_held_for_a_moment_is_taken_without_a_sweep(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        (free,) = world.add(world.new_action('a'))
        store = Deaf(world.store)

        with world.store.transaction() as tx:
            tx.lock_actions([free.id or 0])
            worker = world.worker(lanes=(APPLIER, ENGINE), store=store)
            # After the only sweep, and after the last claim.
            world.until(
                lambda: (
                    'active_plans' in store.asked
                    and not any(source.more for source in sources_of(worker))
                )
            )
            self.assertEqual({'a': states.READY}, world.statuses())

        world.until_action('a', states.SUCCEEDED)


class PostgresqlPassedOverTest(PassedOver, WorldCase, stores.PostgresqlDatabase):
    """The same on PostgreSQL."""


class MysqlPassedOverTest(PassedOver, WorldCase, stores.MysqlDatabase):
    """The same on MariaDB or MySQL."""
