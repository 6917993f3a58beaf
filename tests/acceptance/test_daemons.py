"""Several daemons on one database share the work, and receive messages immediately."""

import signal

from tests import services
from tests.acceptance.daemons import (
    APPLIER,
    ENGINE,
    STANDALONE,
    DaemonTestCase,
    wait_until,
)
from tests.acceptance.listening import NotificationQueue, expected, ids, plan_of
from tests.acceptance.target import APPLIED, APPLY, BEGIN, RECEIVED
from tests.functional.messaging.proxy import Proxy
from watcherlite.domain import actions as domain
from watcherlite.domain import commands
from watcherlite.domain.events import new_uuid
from watcherlite.messaging import addresses


def executed_once(attempt=1):
    """Return the calls of an action that was executed once, at this attempt."""
    return [(BEGIN, attempt, RECEIVED), (APPLY, attempt, APPLIED)]


class Sharing:
    """Four daemons on one kind of database; a mixin."""

    def test_two_appliers_share_a_plan_and_two_engines_share_the_rest(self):
        lane = {'max_parallel': 2, 'claim_batch': 2}
        ini = self.ini(applier=lane, engine=lane)
        operator = self.operator(ini)
        appliers = [self.start(APPLIER, ini), self.start(APPLIER, ini)]
        engines = [self.start(ENGINE, ini), self.start(ENGINE, ini)]
        for daemon in (*appliers, *engines):
            self.wait_until_ready(daemon)
        marks = [f'mark-{n}' for n in range(12)]
        others = [f'other-{n}' for n in range(8)]
        # Four exceed the capacity of one daemon, so the other must execute some.
        gates = [self.target.hold(*marks[:4]), self.target.hold(*others[:4])]

        uuid = operator.start(
            *((name, 'mark', {}) for name in marks),
            ('last', 'nop', {'message': 'all are done'}, *marks),
        )
        found = self.request(operator, others)
        for gate in gates:
            gate.wait()
            gate.open()

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        wait_until(
            lambda: all(a.finished for a in found()),
            lambda: f'{[(a.name, a.status, a.owner) for a in found()]} have not ended',
        )
        # A worker whose threads are busy for long releases the actions that it cannot
        # start.
        attempts = {
            a.name: a.attempt for a in (*operator.actions(uuid).values(), *found())
        }
        self.assertEqual(
            {name: executed_once(attempts[name]) for name in marks + others},
            self.target.calls_by_action(),
        )
        self.assertEqual(
            [workers(appliers), workers(engines)],
            [self.target.pids(*marks), self.target.pids(*others)],
        )
        self.assertEqual(['SUCCEEDED'] * len(others), [a.status for a in found()])
        self.assertEqual(
            workers(appliers),
            {
                action.outputs['pid']
                for name, action in operator.actions(uuid).items()
                if name in marks
            },
        )

    def request(self, operator, names):
        """Store actions of the engine lane that belong to no plan."""
        now = operator.runtime.clock.now()
        with operator.store.transaction() as tx:
            ids = tx.insert_actions(
                [
                    domain.NewAction(
                        uuid=new_uuid(),
                        name=name,
                        action_type='mark',
                        lane=domain.ENGINE,
                        status='READY',
                        created_at=now,
                    )
                    for name in names
                ],
                [],
            )
        # One per engine: a command is delivered to one worker of its lane.
        for _ in range(2):
            operator.runtime.bus.send_command(
                domain.ENGINE, commands.to_message(commands.RunActions())
            )
        return lambda: list(operator.store.actions_by_id(ids).values())


class PostgresqlTest(Sharing, DaemonTestCase):
    database = services.POSTGRESQL

    def test_actions_that_take_long_are_shared_later(self):
        ini = self.ini(applier={'lease': 30, 'max_parallel': 2})
        operator = self.operator(ini)
        appliers = [self.start_ready(APPLIER, ini)]
        # After short actions, the worker claims many at once.
        short = ((f'short-{n}', 'nop', {'message': 'x'}) for n in range(200))
        operator.wait_until_ended(operator.start(*short))
        appliers.append(self.start_ready(APPLIER, ini))
        names = [f'long-{n}' for n in range(8)]
        gate = self.target.hold(*names[:4])

        uuid = operator.start(*((name, 'mark', {}) for name in names))
        gate.wait()
        gate.open()

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual(workers(appliers), self.target.pids(*names[:4]))
        self.assertEqual(
            {name: [BEGIN, APPLY] for name in names},
            {
                name: [what for what, _, _ in calls]
                for name, calls in self.target.calls_by_action().items()
            },
        )


class MysqlTest(Sharing, DaemonTestCase):
    database = services.MYSQL


class StandaloneTest(DaemonTestCase):
    """One process for all, on SQLite, without a broker."""

    database = None
    broker = False

    def setUp(self):
        super().setUp()
        self.path = self.ini(applier={'sweep_interval': 0.2})

    def test_a_plan_that_another_process_stored_is_found(self):
        standalone = self.start_ready(STANDALONE, self.path)
        operator = self.operator(self.path)

        uuid = operator.start(
            ('a', 'mark', {}),
            ('b', 'sleep', {'duration': 0.1}, 'a'),
            ('c', 'mark', {}, 'b'),
        )

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {'a': executed_once(), 'c': executed_once()}, self.target.calls_by_action()
        )
        self.assertEqual(workers([standalone]), self.target.pids())
        # Without a destination of notifications, no event stays pending.
        wait_until(
            lambda: operator.store.oldest_pending_event() is None,
            lambda: 'events are still pending',
        )

    def test_ctrl_c_lets_running_actions_finish(self):
        standalone = self.start_ready(STANDALONE, self.path)
        operator = self.operator(self.path)
        gate = self.target.hold('a')
        uuid = operator.start(('a', 'mark_once', {}), ('b', 'mark', {}, 'a'))
        gate.wait()

        # A terminal sends it to all processes of the command.
        standalone.send_all(signal.SIGINT)
        standalone.wait_for_text('Shutting down: running actions')
        gate.open()

        self.assertEqual(0, standalone.end())
        self.assertEqual({'a': executed_once()}, self.target.calls_by_action())
        self.assertEqual({'a': 'SUCCEEDED', 'b': 'PENDING'}, operator.states(uuid))


class ControlTest(DaemonTestCase):
    """Signals of an operator in another process arrive by message, without a sweep."""

    def setUp(self):
        super().setUp()
        self.path = self.ini(
            **{'watcherlite.action_types.command': {'allowed': '/bin/sleep {value}'}}
        )
        self.operators = self.operator(self.path)
        self.start_ready(APPLIER, self.path)

    def test_a_cancel_reaches_all_running_actions(self):
        operator = self.operators
        uuid = operator.start(
            ('sleeps', 'sleep', {'duration': 1000}),
            ('commands', 'command', {'argv': ['/bin/sleep', '1000']}),
            ('waits', 'sleeping', {'seconds': 1000}),
            ('follows', 'mark', {}, 'sleeps'),
        )
        operator.wait_for_status(uuid, 'RUNNING', 'sleeps', 'commands', 'waits')

        self.assertEqual('CANCELLING', operator.plans.cancel(uuid).state)

        self.assertEqual('CANCELLED', operator.wait_until_ended(uuid))
        running = 'Action was cancelled while it ran.'
        self.assertEqual(
            {
                'sleeps': ('CANCELLED', running),
                'commands': ('CANCELLED', running),
                'waits': ('CANCELLED', running),
                'follows': ('CANCELLED', 'Action was cancelled before it started.'),
            },
            {
                name: (action.state, action.status_message)
                for name, action in operator.actions(uuid).items()
            },
        )
        self.assertEqual(
            {'waits': [(BEGIN, 1, RECEIVED)]}, self.target.calls_by_action()
        )

    def test_an_action_is_suspended_and_resumed(self):
        operator = self.operators
        uuid = operator.start(
            ('waits', 'sleeping', {'seconds': 0.3}),
            # Long enough for a busy machine to observe that it is running.
            ('sleeps', 'sleep', {'duration': 10}),
        )
        gate = self.target.hold('waits')
        gate.wait()
        found = operator.actions(uuid)
        for name in ('waits', 'sleeps'):
            operator.wait_for_status(uuid, 'RUNNING', name)
            operator.plans.signal_action(found[name].uuid, 'SUSPEND')
        # One plugin handles it at its checkpoint; the core suspends the other.
        gate.open()
        operator.wait_for_status(uuid, 'SUSPENDED', 'waits', 'sleeps')
        self.assertEqual('ONGOING', operator.plan(uuid).state)

        for name in found:
            operator.plans.signal_action(found[name].uuid, 'RESUME')

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual({'waits': executed_once()}, self.target.calls_by_action())


class BrokerAwayTest(DaemonTestCase):
    """The daemon starts while the broker is not available."""

    def setUp(self):
        super().setUp()
        server = addresses.parse(self.vhost.url)[0]
        self.proxy = self.useFixture(Proxy(server.host, server.port))
        self.broker_url = self.vhost.url.replace(
            f'{server.host}:{server.port}', f'127.0.0.1:{self.proxy.port}'
        )
        self.notification_queue = self.useFixture(NotificationQueue(self.vhost.url))
        self.proxy.refuse()

    def test_plans_run_and_notifications_follow_in_order(self):
        ini = self.ini(applier={'sweep_interval': 0.2})
        operator = self.operator(ini)
        applier = self.start(APPLIER, ini)
        applier.wait_for_text(' serves ')

        uuids = [
            operator.start(
                ('a', 'mark', {}),
                ('b', 'nop', {'message': 'x', 'fail_execute': fails}, 'a'),
            )
            for fails in (False, True)
        ]
        operator.wait_until_ended(*uuids)

        self.assertEqual(
            ['SUCCEEDED', 'FAILED'], [operator.plan(uuid).state for uuid in uuids]
        )
        self.assertIsNotNone(operator.store.oldest_pending_event())
        self.assertEqual([], self.notification_queue.received())
        applier.wait_for_text('They stay in the database, none is lost')

        self.proxy.accept()
        notifications = self.notification_queue.wait_for_all(operator.store)

        self.assertEqual(set(uuids), {plan_of(n) for n in notifications})
        for uuid in uuids:
            self.assertEqual(
                expected(operator.events(uuid)),
                ids(self.notification_queue.received(uuid)),
            )


def workers(daemons):
    """Return the pids of the workers of daemons."""
    return set().union(*(daemon.workers() for daemon in daemons))
