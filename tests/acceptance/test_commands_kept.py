"""A command to a worker that dies before it has claimed goes to another one at once."""

import sqlalchemy as sa

from tests.acceptance.daemons import APPLIER, DaemonTestCase, wait_until
from tests.acceptance.target import APPLIED, APPLY, BEGIN, HEARD
from watcherlite.domain import commands
from watcherlite.domain.actions import APPLIER as LANE

BLOCKED = sa.text(
    "SELECT application_name FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
    'AND datname = current_database()'
)
#: Rows of actions can be read, and none can be locked or changed.
HOLD_CLAIMS = sa.text('LOCK TABLE actions IN EXCLUSIVE MODE')


class KilledBeforeTheClaimTest(DaemonTestCase):
    """Nobody sweeps: that is five minutes away, longer than anybody here waits."""

    def worker(self, name):
        """Start an applier whose connections to the database have a name."""
        named = {'connection': f'{self.database_url}?application_name={name}'}
        return self.start_ready(APPLIER, self.ini(f'{name}.conf', database=named))

    def test_the_other_worker_takes_the_plan_without_a_sweep(self):
        # Its own commands reach nobody: the test sends that one when it is prepared.
        silent = self.operator(self.ini('silent.conf', messaging={'url': 'memory://'}))
        operator = self.operator(self.ini())
        workers = {name: self.worker(name) for name in ('first', 'second')}
        uuid = silent.start(('a', 'mark_once', {}))
        engine = sa.create_engine(self.database_url)
        self.addCleanup(engine.dispose)

        def blocked():
            with engine.connect() as connection:
                return {row[0] for row in connection.execute(BLOCKED)}

        with engine.begin() as lock:
            # The plan is read, and none of its actions is claimed.
            lock.execute(HOLD_CLAIMS)
            operator.runtime.bus.send_command(
                LANE, commands.to_message(commands.LaunchActionPlan(uuid))
            )
            (taker,) = wait_until(blocked, lambda: 'a worker that claims')
            workers.pop(taker).kill()
        (other,) = workers.values()

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {'a': [(BEGIN, 1, HEARD), (APPLY, 1, APPLIED)]}, self.target.story()
        )
        self.assertEqual(other.workers(), self.target.pids())
