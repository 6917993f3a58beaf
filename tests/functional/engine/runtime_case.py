"""A runtime as daemons build it."""

import threading
from typing import Any

from oslo_config import cfg

from tests import base
from tests.bounded import TIMEOUT
from tests.factories import all_plans
from watcherlite import bootstrap, conf
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.states import action_plan as plan_states


class RuntimeCase(base.TestCase):
    """Both lanes in one process, on SQLite, without a broker."""

    runtime: bootstrap.Runtime

    def setUp(self) -> None:
        super().setUp()
        self.changed = threading.Condition()

    def options(self, ini: str = '') -> cfg.ConfigOpts:
        """Return the options of a file.

        :param ini: its content in addition to the path of the database
        """
        path = self.home / 'watcherlite.conf'
        path.write_text(f'[DEFAULT]\nstate_path = {self.home}\n{ini}')
        return conf.new(config_files=[str(path)])

    def start(self, options: cfg.ConfigOpts) -> bootstrap.Runtime:
        """Build and start a runtime."""
        runtime = bootstrap.Runtime(options, lanes=('applier', 'engine'))
        self.addCleanup(runtime.stop, 0)
        runtime.start()
        runtime.add_listener(self.wake)
        return runtime

    def wake(self, stored: Any) -> None:
        with self.changed:
            self.changed.notify_all()

    def wait_until(self, condition: Any) -> None:
        with self.changed:
            self.assertTrue(self.changed.wait_for(condition, TIMEOUT), self.log.output)

    def ended_plan(self) -> ActionPlan:
        """Wait for the end of the only plan."""
        self.wait_until(
            lambda: [
                plan
                for plan in all_plans(self.runtime.store)
                if plan.state in plan_states.ENDED
            ]
        )
        (plan,) = all_plans(self.runtime.store)
        return plan
