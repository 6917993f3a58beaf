"""What becomes of a plan when a worker that executes it is gone, or only away."""

import signal

import sqlalchemy as sa

from tests.acceptance.checking import History, problems
from tests.acceptance.daemons import APPLIER, ENGINE, DaemonTestCase, wait_until
from tests.acceptance.listening import Ear
from tests.acceptance.target import (
    ANSWER,
    APPLIED,
    APPLY,
    BEGIN,
    HEARD,
    LOOK,
    REPEATED,
    STALE,
)
from tests.functional.messaging.proxy import Proxy

ONCE = [(BEGIN, 1, HEARD), (APPLY, 1, APPLIED)]


class CrashTest(DaemonTestCase):
    def setUp(self):
        super().setUp()
        self.path = self.ini(applier={'lease': 2, 'sweep_interval': 0.3})
        self.operators = self.operator(self.path)
        self.ear = self.useFixture(Ear(self.vhost.url))

    def history(self, uuid):
        """Return what is left of a plan."""
        operator = self.operators
        heard = self.ear.hear_all(operator.store, uuid)
        return History(
            operator.plan(uuid),
            list(operator.actions(uuid).values()),
            operator.events(uuid),
            self.target.calls(),
            heard,
        )

    def test_a_worker_is_killed_in_the_middle_of_a_plan(self):
        operator = self.operators
        first = self.start_ready(APPLIER, self.path)
        (pid,) = first.workers()
        worker = operator.worker_of(pid)
        gates = [
            self.target.hold('again', 'missing'),
            self.target.hold('applied', 'unknown', what=ANSWER),
        ]
        uuid = operator.start(
            ('before', 'mark_once', {}),
            ('again', 'mark', {}, 'before'),
            ('applied', 'mark_checked', {}, 'before'),
            ('missing', 'mark_checked', {}, 'before'),
            ('unknown', 'mark_once', {}, 'before'),
            ('sleeps', 'sleep', {'duration': 4}, 'before'),
            ('after', 'mark', {}, 'again', 'applied', 'missing', 'unknown', 'sleeps'),
        )
        for gate in gates:
            gate.wait('again', 'missing', 'applied', 'unknown')
        operator.wait_for_status(uuid, 'RUNNING', 'sleeps')
        started = operator.actions(uuid)['sleeps'].start_time
        second = self.start_ready(APPLIER, self.path)

        for gate in gates:
            gate.let_newcomers_pass()
        first.kill()
        for gate in gates:
            gate.drop()

        self.assertEqual('FAILED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {
                'before': ONCE,
                'again': [(BEGIN, 2, HEARD), (APPLY, 2, APPLIED)],
                'applied': [*ONCE, (LOOK, 2, HEARD)],
                'missing': [
                    (LOOK, 2, HEARD),
                    (BEGIN, 2, HEARD),
                    (APPLY, 2, APPLIED),
                ],
                'unknown': ONCE,
                'after': ONCE,
            },
            self.target.story(),
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
        # It was not begun anew: it went on.
        self.assertEqual(started, operator.actions(uuid)['sleeps'].start_time)
        self.assertEqual({pid} | second.workers(), self.target.pids())
        self.assertEqual([], problems(self.history(uuid)))

    def test_a_worker_that_was_away_for_longer_than_its_lease_changes_nothing(self):
        operator = self.operators
        # It sends the notifications of all; of its absence the other test tells.
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
            gate.let_newcomers_pass()
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
            (before.plan, before.actions, before.events, before.heard),
            (after.plan, after.actions, after.events, after.heard),
        )
        self.assertEqual(
            {
                'again': [(BEGIN, 2, HEARD), (APPLY, 2, APPLIED)],
                'applied': [*ONCE, (BEGIN, 2, HEARD), (APPLY, 2, REPEATED)],
                'unknown': ONCE,
            },
            # What came late was refused, if it came at all.
            {
                name: [line for line in lines if line[2] != STALE]
                for name, lines in self.target.story().items()
            },
        )
        self.assertEqual([], problems(after))
        # Another worker has taken its place.
        self.wait_until_ready(first, times=2)
        more = operator.start(('more', 'mark', {}))
        self.assertEqual('SUCCEEDED', operator.wait_until_ended(more))


class DatabaseAwayTest(DaemonTestCase):
    broker = False

    def test_a_worker_stops_in_time_and_another_one_begins_when_it_is_back(self):
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
        gate.let_newcomers_pass()

        proxy.refuse()
        applier.wait_for_text('trying again in 2 s')
        gate.drop()
        proxy.accept()

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {'a': [(BEGIN, 2, HEARD), (APPLY, 2, APPLIED)], 'b': ONCE},
            self.target.story(),
        )
        self.assertEqual(set(), workers & self.target.pids())
        self.assertNotIn('Traceback', applier.text())
