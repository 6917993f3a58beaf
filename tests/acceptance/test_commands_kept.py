"""A command to a worker that dies before it claims is redelivered immediately."""

import sqlalchemy as sa

from tests.acceptance.daemons import APPLIER, DaemonTestCase, wait_until
from tests.acceptance.target import APPLIED, APPLY, BEGIN, RECEIVED
from watcherlite.domain import commands
from watcherlite.domain.actions import APPLIER as LANE

BLOCKED = sa.text(
    "SELECT application_name FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
    'AND datname = current_database()'
)
#: Permits reading the rows of actions, and blocks locking or changing them.
HOLD_CLAIMS = sa.text('LOCK TABLE actions IN EXCLUSIVE MODE')


class KilledBeforeTheClaimTest(DaemonTestCase):
    """The next sweep is five minutes away, longer than the test waits."""

    def worker(self, name):
        """Start an applier whose database connections have a name."""
        named = {'connection': f'{self.database_url}?application_name={name}'}
        return self.start_ready(APPLIER, self.ini(f'{name}.conf', database=named))

    def test_the_other_worker_takes_the_plan_without_a_sweep(self):
        # Sends no commands: the test sends the only one when everything is prepared.
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
            # The worker reads the plan, but cannot claim its actions.
            lock.execute(HOLD_CLAIMS)
            operator.runtime.bus.send_command(
                LANE, commands.to_message(commands.LaunchActionPlan(uuid))
            )
            (taker,) = wait_until(blocked, lambda: 'a worker that claims')
            workers.pop(taker).kill()
        (other,) = workers.values()

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {'a': [(BEGIN, 1, RECEIVED), (APPLY, 1, APPLIED)]},
            self.target.calls_by_action(),
        )
        self.assertEqual(other.workers(), self.target.pids())
