"""SIGTERM and SIGHUP: a daemon stops without harm, and reloads its options."""

import os
import signal

from tests.acceptance.daemons import APPLIER, DaemonTestCase, wait_until
from tests.acceptance.target import APPLIED, APPLY, BEGIN, RECEIVED, REPEATED

ONCE = [(BEGIN, 1, RECEIVED), (APPLY, 1, APPLIED)]


class DrainTest(DaemonTestCase):
    """A stopping worker releases its actions; no sweep and no expired lease helps."""

    LONG = 300

    def setUp(self):
        super().setUp()
        self.lane = {'lease': self.LONG, 'max_parallel': 2, 'claim_batch': 2}
        self.path = self.ini(applier=self.lane)
        self.operators = self.operator(self.path)

    def test_a_stopped_worker_finishes_running_actions_and_another_continues(self):
        operator = self.operators
        first = self.start_ready(APPLIER, self.path)
        asleep = operator.start(('sleeps', 'sleep', {'duration': 3600}))
        operator.wait_for_status(asleep, 'RUNNING', 'sleeps')
        early, late = self.target.hold('a', 'b'), self.target.hold('c', 'd')
        uuid = operator.start(
            ('a', 'mark_once', {}),
            ('b', 'mark_once', {}),
            *((name, 'mark', {}) for name in 'cdefgh'),
        )
        early.wait()
        second = self.start_ready(APPLIER, self.path)
        late.wait()
        pids = [first.workers(), second.workers()]

        # All threads are busy, and more actions are ready.
        first.send(signal.SIGTERM)
        first.wait_for_text('Shutting down: running actions')
        early.open()

        self.assertEqual(0, first.end())
        self.assertEqual(
            {
                **dict.fromkeys('ab', 'SUCCEEDED'),
                **dict.fromkeys('cd', 'ONGOING'),
                **dict.fromkeys('efgh', 'PENDING'),
            },
            operator.states(uuid),
        )
        late.open()
        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual(dict.fromkeys('abcdefgh', ONCE), self.target.calls_by_action())
        self.assertEqual(pids, [self.target.pids(*'ab'), self.target.pids(*'cdefgh')])
        # From then on the other worker polls the external work.
        wait_until(
            lambda: operator.actions(asleep)['sleeps'].attempt == 2,
            lambda: operator.describe(asleep),
        )
        self.assertEqual({'sleeps': 'ONGOING'}, operator.states(asleep))
        operator.plans.cancel(asleep)
        self.assertEqual('CANCELLED', operator.wait_until_ended(asleep))

    def test_unstarted_actions_are_released_before_the_end(self):
        operator = self.operators
        path = self.ini(
            'parallel.conf', applier={'lease': self.LONG, 'max_parallel': 2}
        )
        first = self.start_ready(APPLIER, path)
        # After short actions, the worker claims many at once.
        short = ((f'short-{n}', 'nop', {'message': 'x'}) for n in range(200))
        operator.wait_until_ended(operator.start(*short))
        gate = self.target.hold('a', 'b')
        uuid = operator.start(*((name, 'mark_once', {}) for name in 'abcdefgh'))
        gate.wait()
        operator.wait_for_status(uuid, 'RUNNING', *'abcdefgh')
        second = self.start_ready(APPLIER, self.path)

        first.send(signal.SIGTERM)

        operator.wait_for_status(uuid, 'SUCCEEDED', *'cdefgh')
        self.assertEqual(second.workers(), self.target.pids())
        gate.open()
        self.assertEqual(0, first.end())
        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {
                **dict.fromkeys('ab', ONCE),
                **{n: [(BEGIN, 2, RECEIVED), (APPLY, 2, APPLIED)] for n in 'cdefgh'},
            },
            self.target.calls_by_action(),
        )

    def test_long_actions_are_taken_over_immediately(self):
        operator = self.operators
        impatient = self.start_ready(
            APPLIER,
            self.ini(
                'impatient.conf',
                DEFAULT={'graceful_shutdown_timeout': 1},
                applier=self.lane,
            ),
        )
        gate = self.target.hold('again', 'unknown', what='answer')
        uuid = operator.start(('again', 'mark', {}), ('unknown', 'mark_once', {}))
        gate.wait()
        gate.stop_holding()
        worker = operator.worker_of(*impatient.workers())
        self.start_ready(APPLIER, self.path)

        impatient.send(signal.SIGTERM)

        self.assertEqual(0, impatient.end())
        self.assertEqual('FAILED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {
                'again': [*ONCE, (BEGIN, 2, RECEIVED), (APPLY, 2, REPEATED)],
                'unknown': ONCE,
            },
            self.target.calls_by_action(),
        )
        self.assertEqual(
            {
                'unknown': f'Outcome unknown: worker {worker} was lost while the '
                'action ran, and its type cannot tell whether it took effect.'
            },
            operator.messages(uuid),
        )

    def test_a_worker_whose_manager_was_killed_drains_too(self):
        operator = self.operators
        first = self.start_ready(APPLIER, self.path)
        gate = self.target.hold('a')
        uuid = operator.start(('a', 'mark_once', {}), ('b', 'mark', {}, 'a'))
        gate.wait()
        workers = first.workers()

        first.send(signal.SIGKILL)
        first.wait_for_text('Shutting down: running actions')
        self.start_ready(APPLIER, self.path)
        gate.open()

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(uuid))
        self.assertEqual({'a': ONCE, 'b': ONCE}, self.target.calls_by_action())
        self.assertEqual(workers, self.target.pids('a'))
        wait_until(
            lambda: len(operator.store.live_workers()) == 1,
            lambda: f'still there: {operator.store.live_workers()}',
        )


class ReloadTest(DaemonTestCase):
    database = None
    broker = False

    TYPE = 'watcherlite.action_types.sleeping'
    COMMANDS = 'watcherlite.action_types.command'

    def reload(self, daemon, text, **groups):
        """Reload an ini file; wait for this text in the log."""
        self.ini(**groups)
        daemon.send(signal.SIGHUP)
        daemon.wait_for_text(text)

    def run_true(self, operator):
        uuid = operator.start(('a', 'command', {'argv': ['/bin/true']}))
        return operator.wait_until_ended(uuid)

    def test_mutable_options_are_reloaded_and_an_invalid_file_is_ignored(self):
        # With the initial sweep interval, the test would time out.
        allowed = {self.COMMANDS: {'allowed': '/bin/true'}}
        operator = self.operator(self.ini('operator.conf', **allowed))
        path = self.ini(**{self.TYPE: {'target': self.target.url, 'token': 'hunter1'}})
        applier = self.start_ready(APPLIER, path)
        waiting = operator.start(('a', 'nop', {'message': 'x'}))

        self.reload(
            applier,
            '[applier] sweep_interval changed from 300 to 0.2',
            applier={'sweep_interval': 0.2},
            **{self.TYPE: {'target': self.target.url, 'token': 'hunter2'}},
        )

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(waiting))
        applier.wait_for_text(f'[{self.TYPE}] token changed from *** to ***')
        self.assertEqual('FAILED', self.run_true(operator))

        self.reload(
            applier,
            'allowed changed from None to ',
            applier={'sweep_interval': 0.2},
            **allowed,
        )

        self.assertEqual('SUCCEEDED', self.run_true(operator))

        self.reload(
            applier,
            'The configuration was not reloaded: '
            f'{path}: [applier] max_attempts is not valid: ',
            applier={'sweep_interval': 300, 'max_attempts': 'none'},
        )

        self.assertEqual('SUCCEEDED', self.run_true(operator))
        self.assertNotIn('hunter', applier.text())
        # A replacement worker also has the current options.
        (pid,) = applier.workers()
        os.kill(pid, signal.SIGKILL)
        self.wait_until_ready(applier, times=2)
        self.assertEqual('SUCCEEDED', self.run_true(operator))
        applier.send(signal.SIGTERM)
        self.assertEqual(0, applier.end())
