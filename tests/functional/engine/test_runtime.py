"""A process as daemons build it: audits are wired up to plans."""

import threading
from typing import Any

from tests import base
from watcherlite import bootstrap, conf
from watcherlite.domain.audits import NewAudit
from watcherlite.engine.upkeep import ROLE
from watcherlite.states import audit as states

PATIENCE = 20.0


class RuntimeTest(base.TestCase):
    """Both lanes in one process, on SQLite, without a broker."""

    def setUp(self) -> None:
        super().setUp()
        path = self.home / 'watcherlite.conf'
        path.write_text(f'[DEFAULT]\nstate_path = {self.home}\n')
        self.conf = conf.new(config_files=[str(path)])
        self.changed = threading.Condition()

    def a_runtime(self) -> bootstrap.Runtime:
        runtime = bootstrap.build(self.conf, lanes=('applier', 'engine'))
        self.addCleanup(runtime.stop, 0)
        runtime.start()
        runtime.add_listener(self.wake)
        return runtime

    def wake(self, stored: Any) -> None:
        with self.changed:
            self.changed.notify_all()

    def until(self, condition: Any) -> None:
        with self.changed:
            self.assertTrue(self.changed.wait_for(condition, PATIENCE))

    def test_an_audit_becomes_a_plan_that_is_executed(self) -> None:
        runtime = self.a_runtime()
        audit = runtime.audits.create(
            NewAudit(
                'ONESHOT',
                goal='Unclassified',
                strategy='Actuator',
                parameters={
                    'actions': [
                        {'action_type': 'nop', 'input_parameters': {'message': 'x'}}
                    ]
                },
                auto_trigger=True,
            )
        )

        self.until(lambda: 'SUCCEEDED' in [p.state for p in runtime.store.list_plans()])

        self.assertEqual(states.SUCCEEDED, runtime.store.get_audit(audit.uuid).state)

    def test_a_process_without_lanes_has_the_goals_as_well(self) -> None:
        runtime = bootstrap.build(self.conf, lanes=())
        self.addCleanup(runtime.stop, 0)
        runtime.sync()
        self.assertEqual(
            'Dummy goal', runtime.store.find_goal('dummy').goal.display_name
        )

    def test_the_upkeep_is_given_up_when_the_process_stops(self) -> None:
        runtime = self.a_runtime()
        assert runtime.upkeep is not None and runtime.worker is not None
        mine = runtime.worker.me.uuid
        # Its own thread may take it in the same moment.
        self.assertTrue(
            any(runtime.store.take_role(ROLE, mine, 60) for _ in range(100))
        )
        self.assertFalse(runtime.store.take_role(ROLE, 'another', 60))
        runtime.stop(0)
        again = bootstrap.open_store(self.conf)
        self.addCleanup(again.close)
        self.assertTrue(again.take_role(ROLE, 'another', 60))
