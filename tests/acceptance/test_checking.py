"""The checker of histories finds every kind of contradiction."""

import dataclasses

from tests import base, factories
from tests.acceptance.checking import History, problems
from tests.acceptance.target import (
    APPLIED,
    APPLY,
    BEGIN,
    RECEIVED,
    REPEATED,
    STALE,
    Call,
)
from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent
from watcherlite.notifications.rules import subjects

FIRST, SECOND = 4711, 4712
UNKNOWN = 'Outcome unknown: worker w was lost while the action ran'


def call(name, what, token, pid, result):
    return Call(name, what, f'uuid-{name}', token, pid, result)


def stored(sequence, subject, old, new, name=None, **values):
    event = factories.make_event(subject, old_status=old, new_status=new, **values)
    return StoredEvent(sequence, event, action_name=name)


class CheckerTest(base.TestCase):
    """SECOND recovered and repeated `mark`; `once` FAILED instead."""

    def setUp(self):
        super().setUp()
        self.plan = factories.make_plan(id=1, state='FAILED')
        self.mark = factories.make_action(
            id=1,
            plan_id=1,
            uuid='uuid-mark',
            name='mark',
            action_type='mark',
            status='SUCCEEDED',
            attempt=2,
            outputs={'attempt': 2, 'pid': SECOND},
        )
        self.once = factories.make_action(
            id=2,
            plan_id=1,
            uuid='uuid-once',
            name='once',
            action_type='mark_once',
            status='FAILED',
            attempt=1,
            status_message=UNKNOWN,
        )
        plan, mark, once = self.plan, self.mark, self.once
        self.calls = [
            call('mark', BEGIN, 1, FIRST, RECEIVED),
            call('once', BEGIN, 1, FIRST, RECEIVED),
            call('once', APPLY, 1, FIRST, APPLIED),
            call('mark', APPLY, 1, FIRST, APPLIED),
            call('mark', BEGIN, 2, SECOND, RECEIVED),
            call('mark', APPLY, 1, FIRST, STALE),
            call('mark', APPLY, 2, SECOND, REPEATED),
        ]
        self.events = [
            stored(1, plan, None, 'RECOMMENDED', kind=events.CREATED),
            stored(2, mark, None, 'INIT', 'mark', kind=events.CREATED),
            stored(3, once, None, 'INIT', 'once', kind=events.CREATED),
            stored(4, plan, 'RECOMMENDED', 'PENDING'),
            stored(5, plan, 'PENDING', 'ONGOING'),
            stored(6, mark, 'READY', 'RUNNING', 'mark'),
            stored(7, once, 'READY', 'RUNNING', 'once'),
            stored(8, mark, 'RUNNING', 'READY', 'mark'),
            stored(9, once, 'RUNNING', 'FAILED', 'once'),
            stored(10, mark, 'READY', 'RUNNING', 'mark'),
            stored(11, mark, 'RUNNING', 'SUCCEEDED', 'mark'),
            stored(12, plan, 'ONGOING', 'FAILED'),
        ]
        self.notifications = [
            {
                'message_id': events.message_id(one.event.uuid, n),
                'what': notification.name,
            }
            for one in self.events
            for n, notification in enumerate(subjects.match(one.event).notifications)
        ]

    def problems(self, **changes):
        """Return the problems of the history after some changes."""
        history = History(
            changes.get('plan', self.plan),
            [changes.get('mark', self.mark), changes.get('once', self.once)],
            changes.get('events', self.events),
            changes.get('calls', self.calls),
            changes.get('notifications', self.notifications),
        )
        return problems(history)

    def test_a_valid_history_has_no_problems(self):
        self.assertEqual([], self.problems())
        # Repetitions are permitted at any time.
        self.assertEqual(
            [],
            self.problems(notifications=[*self.notifications, self.notifications[3]]),
        )

    def assert_found(self, *forgeries):
        """Check that each of these changes causes these problems."""
        for changes, *expected in forgeries:
            with self.subTest(expected):
                self.assertEqual(expected, self.problems(**changes))

    def test_rows_are_not_final_or_contradict_the_ledger(self):
        def result(**outputs):
            return {'mark': self.mark.evolve(outputs=outputs)}

        failed = self.problems(mark=self.mark.evolve(status='FAILED'))
        self.assertEqual('mark: FAILED, last event SUCCEEDED', failed[0])
        self.assert_found(
            (
                {'mark': self.mark.evolve(status='RUNNING')},
                'mark: it is RUNNING, but the plan has ended',
                'mark: ONGOING, last event SUCCEEDED',
                'mark: it is recoverable, but RUNNING: None',
            ),
            (
                {'plan': self.plan.evolve(state='ONGOING')},
                'the plan is ONGOING',
                'the plan is ONGOING, last event FAILED',
            ),
            (result(attempt=1, pid=FIRST), 'mark: the result is of attempt 1, not 2'),
            (
                result(attempt=2, pid=FIRST),
                f'mark: the result is of (2, {FIRST}), which made no call',
            ),
            (
                {'once': self.once.evolve(status_message='HTTPError')},
                'once: FAILED: HTTPError',
            ),
        )

    def test_calls_are_missing_repeated_or_of_the_wrong_process(self):
        def after(*more):
            return {'calls': [*self.calls, call(*more)]}

        without_effect = [
            dataclasses.replace(c, result=RECEIVED) if c.name == 'mark' else c
            for c in self.calls
            if c.result != STALE
        ]
        self.assert_found(
            ({'calls': without_effect}, 'mark: SUCCEEDED without an effect'),
            (
                after('mark', APPLY, 2, SECOND, APPLIED),
                'mark: the effect was applied twice',
            ),
            (
                after('once', BEGIN, 2, SECOND, RECEIVED),
                'once: it must run once, but attempts ran it: [1, 2]',
            ),
            (
                after('mark', BEGIN, 2, FIRST, RECEIVED),
                'mark: two processes executed attempt 2',
            ),
            (
                after('mark', BEGIN, 1, FIRST, RECEIVED),
                'mark: attempt 1 was accepted after attempt 2',
            ),
        )

    def test_events_or_notifications_are_missing_forged_or_in_another_order(self):
        late = stored(13, self.once, 'RUNNING', 'SUCCEEDED', 'once')
        missing = [one for one in self.events if one.sequence != 8]
        first, second, *rest = self.notifications
        forged = {'message_id': 'forged', 'what': 'update'}
        self.assert_found(
            (
                {'events': [*self.events, late], 'notifications': None},
                'once: it became SUCCEEDED after its end',
                'once: it was FAILED, but the event is ONGOING -> SUCCEEDED',
                'once: FAILED, last event SUCCEEDED',
            ),
            (
                {'events': missing, 'notifications': None},
                'mark: it was ONGOING, but the event is PENDING -> ONGOING',
            ),
            ({'notifications': [second, *rest]}, f'{first["message_id"]} was not sent'),
            ({'notifications': [*self.notifications, forged]}, 'forged has no event'),
            (
                {'notifications': [second, first, *rest]},
                'the notifications are not in the order of the events',
            ),
            (
                {'notifications': [*self.notifications, {**first, 'what': 'delete'}]},
                f'{first["message_id"]} is the id of two notifications',
            ),
        )
