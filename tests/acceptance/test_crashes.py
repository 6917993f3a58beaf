"""A plan survives the loss of the worker that executes it."""

import os
import signal
from typing import ClassVar

import sqlalchemy as sa

from tests.acceptance.checking import History, problems
from tests.acceptance.daemons import (
    APPLIER,
    ENGINE,
    STANDALONE,
    DaemonTestCase,
    wait_until,
)
from tests.acceptance.listening import NotificationQueue
from tests.acceptance.target import (
    ANSWER,
    APPLIED,
    APPLY,
    BEGIN,
    LOOK,
    RECEIVED,
    REPEATED,
    STALE,
)
from tests.functional.messaging.proxy import Proxy

ONCE = [(BEGIN, 1, RECEIVED), (APPLY, 1, APPLIED)]


class CrashTestCase(DaemonTestCase):
    """A plan with an action of each kind, whose worker is killed halfway.

    :cvar lane: the options of the lane
    """

    lane: ClassVar[dict[str, float]] = {'lease': 2, 'sweep_interval': 0.3}

    def setUp(self):
        super().setUp()
        self.path = self.ini(applier=self.lane)
        self.operators = self.operator(self.path)
        self.notification_queue = (
            self.useFixture(NotificationQueue(self.vhost.url)) if self.broker else None
        )
        self.gates = []

    def history(self, uuid):
        """Return the rows, events, calls and notifications of a plan."""
        operator = self.operators
        notifications = (
            self.notification_queue.wait_for_all(operator.store, uuid)
            if self.notification_queue
            else None
        )
        return History(
            operator.plan(uuid),
            list(operator.actions(uuid).values()),
            operator.events(uuid),
            self.target.calls(),
            notifications,
        )

    def start_plan(self):
        """Start the plan; return its uuid."""
        self.gates = [
            self.target.hold('again', 'missing'),
            self.target.hold('applied', 'unknown', what=ANSWER),
        ]
        return self.operators.start(
            ('before', 'mark_once', {}),
            ('again', 'mark', {}, 'before'),
            ('applied', 'mark_checked', {}, 'before'),
            ('missing', 'mark_checked', {}, 'before'),
            ('unknown', 'mark_once', {}, 'before'),
            ('sleeps', 'sleep', {'duration': 10}, 'before'),
            ('after', 'mark', {}, 'again', 'applied', 'missing', 'unknown', 'sleeps'),
        )

    def wait_until_all_run(self, uuid):
        """Wait until all runnable actions run; return the start time of `sleeps`."""
        for gate in self.gates:
            gate.wait()
        # Until its token is stored, no other worker knows that it has started.
        wait_until(
            lambda: self.operators.actions(uuid)['sleeps'].token is not None,
            lambda: f'the token of sleeps in {self.operators.describe(uuid)}',
        )
        return self.operators.actions(uuid)['sleeps'].start_time

    def kill_worker(self, kill):
        """Kill the worker of the plan, and abort its blocked calls.

        :param kill: returns after the worker has ended
        """
        for gate in self.gates:
            gate.stop_holding()
        kill()
        for gate in self.gates:
            gate.drop()

    def assert_recovered(self, uuid, worker, asleep_since):
        """Check the plan after the loss of a worker."""
        operator = self.operators
        self.assertEqual('FAILED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {
                'before': ONCE,
                'again': [(BEGIN, 2, RECEIVED), (APPLY, 2, APPLIED)],
                'applied': [*ONCE, (LOOK, 2, RECEIVED)],
                'missing': [
                    (LOOK, 2, RECEIVED),
                    (BEGIN, 2, RECEIVED),
                    (APPLY, 2, APPLIED),
                ],
                'unknown': ONCE,
                'after': ONCE,
            },
            self.target.calls_by_action(),
        )
        unknown = (
            f'Outcome unknown: worker {worker} was lost while the action ran, and its '
            'type cannot tell whether it took effect.'
        )
        self.assertEqual(
            {
                'before': ('SUCCEEDED', None, 1),
                'again': ('SUCCEEDED', None, 2),
                'applied': ('SUCCEEDED', None, 2),
                'missing': ('SUCCEEDED', None, 2),
                'unknown': ('FAILED', unknown, 1),
                'sleeps': ('SUCCEEDED', None, 2),
                'after': ('SUCCEEDED', None, 1),
            },
            {
                name: (action.state, action.status_message, action.attempt)
                for name, action in operator.actions(uuid).items()
            },
        )
        # It was continued, not restarted.
        self.assertEqual(asleep_since, operator.actions(uuid)['sleeps'].start_time)
        self.assertEqual([], problems(self.history(uuid)))


class CrashTest(CrashTestCase):
    def test_a_worker_is_killed_in_the_middle_of_a_plan(self):
        operator = self.operators
        first = self.start_ready(APPLIER, self.path)
        (pid,) = first.workers()
        worker = operator.worker_of(pid)
        uuid = self.start_plan()
        asleep_since = self.wait_until_all_run(uuid)
        second = self.start_ready(APPLIER, self.path)

        self.kill_worker(first.kill)

        self.assert_recovered(uuid, worker, asleep_since)
        self.assertEqual({pid} | second.workers(), self.target.pids())

    def test_a_worker_that_was_paused_beyond_its_lease_changes_nothing(self):
        operator = self.operators
        # It publishes all notifications; another test covers its loss.
        self.start_ready(ENGINE, self.path)
        first = self.start_ready(APPLIER, self.path)
        (pid,) = first.workers()
        gates = [
            self.target.hold('again'),
            self.target.hold('applied', 'unknown', what=ANSWER),
        ]
        uuid = operator.start(
            ('again', 'mark', {}),
            ('applied', 'mark', {}),
            ('unknown', 'mark_once', {}),
            ('sleeps', 'sleep', {'duration': 1}),
        )
        for gate in gates:
            gate.wait('again', 'applied', 'unknown')
        self.start_ready(APPLIER, self.path)

        for gate in gates:
            gate.stop_holding()
        first.send_all(signal.SIGSTOP)
        self.assertEqual('FAILED', operator.wait_until_ended(uuid))
        before = self.history(uuid)
        for gate in gates:
            gate.open()
        first.send_all(signal.SIGCONT)
        wait_until(
            lambda: pid not in first.workers(), lambda: f'the end of process {pid}'
        )

        after = self.history(uuid)
        self.assertEqual(
            (before.plan, before.actions, before.events, before.notifications),
            (after.plan, after.actions, after.events, after.notifications),
        )
        self.assertEqual(
            {
                'again': [(BEGIN, 2, RECEIVED), (APPLY, 2, APPLIED)],
                'applied': [*ONCE, (BEGIN, 2, RECEIVED), (APPLY, 2, REPEATED)],
                'unknown': ONCE,
            },
            # Late calls, if any, were rejected.
            {
                name: [line for line in lines if line[2] != STALE]
                for name, lines in self.target.calls_by_action().items()
            },
        )
        self.assertEqual([], problems(after))
        # Another worker has replaced it.
        self.wait_until_ready(first, times=2)
        more = operator.start(('more', 'mark', {}))
        self.assertEqual('SUCCEEDED', operator.wait_until_ended(more))


class ReplacedTest(CrashTestCase):
    """A new worker recovers the actions; no lease expires and no sweep runs."""

    lane: ClassVar[dict[str, float]] = {'lease': 300, 'sweep_interval': 300}

    def test_a_worker_that_replaces_a_killed_one_continues_immediately(self):
        operator = self.operators
        applier = self.start_ready(APPLIER, self.path)
        (pid,) = applier.workers()
        worker = operator.worker_of(pid)
        uuid = self.start_plan()
        asleep_since = self.wait_until_all_run(uuid)

        def kill():
            os.kill(pid, signal.SIGKILL)
            wait_until(
                lambda: pid not in applier.workers(), lambda: f'the end of {pid}'
            )

        self.kill_worker(kill)

        self.assert_recovered(uuid, worker, asleep_since)
        self.assertEqual({pid} | applier.workers(), self.target.pids())

    def test_live_workers_keep_their_actions(self):
        operator = self.operators
        first = self.start_ready(APPLIER, self.path)
        gate = self.target.hold('a')
        uuid = operator.start(('a', 'mark_once', {}), ('b', 'mark', {}, 'a'))
        gate.wait()

        second = self.start_ready(APPLIER, self.path)
        (pid,) = second.workers()
        os.kill(pid, signal.SIGKILL)
        self.wait_until_ready(second, times=2)
        gate.open()

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual({'a': ONCE, 'b': ONCE}, self.target.calls_by_action())
        self.assertEqual(first.workers(), self.target.pids('a'))
        self.assertEqual([], problems(self.history(uuid)))


class RestartTest(CrashTestCase):
    """The same on one machine without servers, where the whole daemon is killed."""

    database = None
    broker = False
    lane = ReplacedTest.lane

    def test_a_restarted_daemon_continues_immediately(self):
        operator = self.operators
        # No message reaches the daemon, and later sweeps are far away.
        uuid = self.start_plan()
        killed = self.start_ready(STANDALONE, self.path)
        asleep_since = self.wait_until_all_run(uuid)
        (pid,) = killed.workers()
        worker = operator.worker_of(pid)

        self.kill_worker(killed.kill)
        again = self.start_ready(STANDALONE, self.path)

        self.assert_recovered(uuid, worker, asleep_since)
        self.assertEqual({pid} | again.workers(), self.target.pids())


class DatabaseAwayTest(DaemonTestCase):
    broker = False

    def test_a_worker_without_its_database_stops_in_time_and_restarts(self):
        operator = self.operator(self.ini('operator.conf'))
        url = sa.make_url(self.database_url)
        proxy = self.useFixture(Proxy(url.host, url.port or 5432))
        proxied = url.set(host='127.0.0.1', port=proxy.port)
        applier = self.start_ready(
            APPLIER,
            self.ini(
                applier={'lease': 2, 'sweep_interval': 0.2},
                database={'connection': proxied.render_as_string(False)},
            ),
        )
        workers = applier.workers()
        gate = self.target.hold('a')
        uuid = operator.start(('a', 'mark', {}), ('b', 'mark', {}, 'a'))
        gate.wait()
        gate.stop_holding()

        proxy.refuse()
        applier.wait_for_text('trying again in 2 s')
        gate.drop()
        proxy.accept()

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {'a': [(BEGIN, 2, RECEIVED), (APPLY, 2, APPLIED)], 'b': ONCE},
            self.target.calls_by_action(),
        )
        self.assertEqual(set(), workers & self.target.pids())
        self.assertNotIn('Traceback', applier.text())
