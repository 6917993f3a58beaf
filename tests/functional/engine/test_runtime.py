"""A runtime as daemons build it, with audits and plans."""

import datetime
import time

from tests.bounded import TIMEOUT
from tests.factories import all_plans
from tests.functional.engine.runtime_case import RuntimeCase
from watcherlite import bootstrap
from watcherlite.domain.audits import Audit, AuditRequest
from watcherlite.engine.audits.reconciler import ROLE
from watcherlite.states import audit as states

#: The interval of polls in seconds.
LOOK = 0.05


class RuntimeTest(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.conf = self.options()

    def actuate(self, runtime: bootstrap.Runtime) -> Audit:
        """Let an audit propose a plan of one action, and execute it."""
        actions = [{'action_type': 'nop', 'input_parameters': {'message': 'x'}}]
        audit = runtime.audits.create(
            AuditRequest(
                'ONESHOT',
                goal='Unclassified',
                strategy='Actuator',
                parameters={'actions': actions},
                auto_trigger=True,
            )
        )
        self.wait_until(
            lambda: 'SUCCEEDED' in [p.state for p in all_plans(runtime.store)]
        )
        return audit

    def test_plans_of_users_and_audits_have_the_configured_on_worker_loss(self) -> None:
        self.conf.set_override('on_worker_loss', 'cancel', group='applier')
        runtime = self.start(self.conf)
        audit = self.actuate(runtime)
        self.assertEqual(states.SUCCEEDED, runtime.store.get_audit(audit.uuid).state)
        actions = [
            {'name': 'a', 'action_type': 'nop', 'input_parameters': {'message': 'x'}}
        ]
        runtime.plans.create_from({'actions': actions})
        self.assertEqual(
            ['cancel', 'cancel'], [p.on_worker_loss for p in all_plans(runtime.store)]
        )

    def test_times_are_those_of_the_database_and_goals_are_synchronised(self) -> None:
        ahead = datetime.timedelta(hours=1)
        for lanes, begin in (
            ((), bootstrap.Runtime.sync),
            (('applier',), bootstrap.Runtime.start),
        ):
            runtime = bootstrap.Runtime(self.conf, lanes=lanes)
            self.addCleanup(runtime.stop, 0)
            ask = runtime.store.now
            runtime.clock._ask = lambda ask=ask: ask() + ahead
            begin(runtime)
            goal = runtime.store.find_goal('dummy').goal
            self.assertEqual('Dummy goal', goal.display_name)
            for clock in (runtime.clock, runtime.plans._clock, runtime.stacks._clock):
                late = clock.now() - ask() - ahead
                self.assertLess(abs(late), ahead / 2)

    def test_an_expired_plan_is_superseded(self) -> None:
        other = bootstrap.Runtime(self.conf, lanes=())
        self.addCleanup(other.stop, 0)
        inputs = {'message': 'x'}
        action = {'name': 'a', 'action_type': 'nop', 'input_parameters': inputs}
        plan = other.plans.create_from({'actions': [action]})
        self.conf.set_override('action_plan_expiry', 1e-9, group='engine')

        self.start(self.conf)

        def state() -> str:
            return other.store.get_plan(plan.uuid).state

        deadline = time.monotonic() + TIMEOUT
        with self.changed:
            # No listener is notified of this change.
            while state() == 'RECOMMENDED' and time.monotonic() < deadline:
                self.changed.wait(LOOK)
        self.assertEqual('SUPERSEDED', state())

    def test_the_reconciler_role_is_released_when_the_process_stops(self) -> None:
        runtime = self.start(self.conf)
        assert runtime.reconciler is not None and runtime.worker is not None
        mine = runtime.worker.record.uuid
        # Its own thread may take the role at the same moment.
        self.assertTrue(
            any(runtime.store.acquire_role(ROLE, mine, 60) for _ in range(100))
        )
        self.assertFalse(runtime.store.acquire_role(ROLE, 'another', 60))
        runtime.stop(0)
        again = bootstrap.open_store(self.conf)
        self.addCleanup(again.close)
        self.assertTrue(again.acquire_role(ROLE, 'another', 60))
