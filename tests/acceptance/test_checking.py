"""The checker of histories is able to fail: each forgery is found."""

import dataclasses

from tests import base, factories
from tests.acceptance.checking import History, problems
from tests.acceptance.target import APPLIED, APPLY, BEGIN, HEARD, REPEATED, STALE, Call
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
    """`mark` was taken over by SECOND and run again, `once` was FAILED for it."""

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
            call('mark', BEGIN, 1, FIRST, HEARD),
            call('once', BEGIN, 1, FIRST, HEARD),
            call('once', APPLY, 1, FIRST, APPLIED),
            call('mark', APPLY, 1, FIRST, APPLIED),
            call('mark', BEGIN, 2, SECOND, HEARD),
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
        self.heard = [
            {'message_id': events.message_id(one.event.uuid, n), 'what': told.name}
            for one in self.events
            for n, told in enumerate(subjects.match(one.event).notifications)
        ]

    def problems(self, **changes):
        """Return what is wrong with the history after some changes."""
        history = History(
            changes.get('plan', self.plan),
            [changes.get('mark', self.mark), changes.get('once', self.once)],
            changes.get('events', self.events),
            changes.get('calls', self.calls),
            changes.get('heard', self.heard),
        )
        return problems(history)

    def after(self, *more):
        return [*self.calls, *more]

    def test_what_happened_is_as_it_must_be(self):
        self.assertEqual([], self.problems())
        # Repeats are allowed, at any time.
        self.assertEqual([], self.problems(heard=[*self.heard, self.heard[3]]))

    def test_something_is_not_finished(self):
        running = self.mark.evolve(status='RUNNING')

        self.assertEqual(
            [
                'mark: it is RUNNING, and its plan has ended',
                'mark: it is ONGOING, not SUCCEEDED',
                'mark: it can be run again, and is RUNNING: None',
            ],
            self.problems(mark=running),
        )
        self.assertEqual(
            ['the plan is ONGOING', 'the plan is ONGOING, not FAILED'],
            self.problems(plan=self.plan.evolve(state='ONGOING')),
        )

    def test_an_effect_is_there_twice(self):
        self.assertEqual(
            ['mark: its effect was applied twice'],
            self.problems(calls=self.after(call('mark', APPLY, 2, SECOND, APPLIED))),
        )

    def test_an_effect_is_missing(self):
        self.assertEqual(
            ['mark: it SUCCEEDED without an effect'],
            self.problems(
                calls=[
                    dataclasses.replace(c, result=HEARD) if c.name == 'mark' else c
                    for c in self.calls
                    if c.result != STALE
                ]
            ),
        )

    def test_what_can_run_once_only_ran_twice(self):
        self.assertEqual(
            ['once: it can be run once only, and was run by attempts [1, 2]'],
            self.problems(calls=self.after(call('once', BEGIN, 2, SECOND, HEARD))),
        )

    def test_two_processes_own_an_action(self):
        self.assertEqual(
            ['mark: two processes are its attempt 2'],
            self.problems(calls=self.after(call('mark', BEGIN, 2, FIRST, HEARD))),
        )

    def test_an_owner_that_was_replaced_is_heard(self):
        self.assertEqual(
            ['mark: attempt 1 was heard after attempt 2'],
            self.problems(calls=self.after(call('mark', BEGIN, 1, FIRST, HEARD))),
        )

    def test_the_result_of_an_owner_that_was_replaced_counts(self):
        self.assertEqual(
            ['mark: a result of attempt 1 counts; it is at 2'],
            self.problems(mark=self.mark.evolve(outputs={'attempt': 1, 'pid': FIRST})),
        )
        self.assertEqual(
            [f'mark: its result is of (2, {FIRST}), which has not called'],
            self.problems(mark=self.mark.evolve(outputs={'attempt': 2, 'pid': FIRST})),
        )

    def test_an_action_fails_for_no_good_reason(self):
        self.assertEqual(
            ['once: it FAILED: HTTPError'],
            self.problems(once=self.once.evolve(status_message='HTTPError')),
        )
        self.assertEqual(
            ['mark: it is FAILED, not SUCCEEDED'],
            self.problems(mark=self.mark.evolve(status='FAILED'))[:1],
        )

    def test_something_was_written_after_the_end(self):
        late = stored(13, self.once, 'RUNNING', 'SUCCEEDED', 'once')

        self.assertEqual(
            [
                'once: it became SUCCEEDED after it had ended',
                'once: it was FAILED and became SUCCEEDED from ONGOING',
                'once: it is FAILED, not SUCCEEDED',
            ],
            self.problems(events=[*self.events, late], heard=None),
        )

    def test_a_change_has_no_event(self):
        missing = [one for one in self.events if one.sequence != 8]

        self.assertEqual(
            ['mark: it was ONGOING and became ONGOING from PENDING'],
            self.problems(events=missing, heard=None),
        )

    def test_notifications_are_missing_forged_or_in_another_order(self):
        first, second, *rest = self.heard
        forged = {'message_id': 'forged', 'what': 'update'}

        self.assertEqual(
            [f'{first["message_id"]} was not sent'],
            self.problems(heard=[second, *rest]),
        )
        self.assertEqual(
            ['forged tells of nothing that happened'],
            self.problems(heard=[*self.heard, forged]),
        )
        self.assertEqual(
            ['the notifications are not in the order of what happened'],
            self.problems(heard=[second, first, *rest]),
        )
        self.assertEqual(
            [f'{first["message_id"]} is the id of two notifications'],
            self.problems(heard=[*self.heard, {**first, 'what': 'delete'}]),
        )
