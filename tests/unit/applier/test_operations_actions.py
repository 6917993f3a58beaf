"""The operations of operators on actions: skip, edit messages, signal."""

import functools
import itertools

from tests import factories
from tests.unit.applier.operating import AUTOMATIC, EVENTS, NOW, PREFIX, OperationsCase
from watcherlite import exceptions
from watcherlite.applier.operations import user_message
from watcherlite.clock import EPOCH
from watcherlite.domain import commands
from watcherlite.domain.actions import COMPLETE
from watcherlite.notifications.rules.subjects import match
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states


class TestSkip(OperationsCase):
    def test_a_pending_action_of_a_proposed_plan_is_skipped(self):
        plan, (action, _) = self.create_plan('INIT', 'INIT', state='RECOMMENDED')

        after = self.operations.skip_action(action.uuid, 'not tonight')

        message = f'{PREFIX}not tonight'
        self.assertEqual(
            action.evolve(
                status='SKIPPED', status_message=message, end_time=NOW, updated_at=NOW
            ),
            after,
        )
        self.assertEqual(after, self.store.get_action(action.uuid))
        self.assertEqual(
            plan.evolve(
                unfinished=1,
                skipped=1,
                status_message='One or more actions were skipped. '
                f'Action {action.uuid} was skipped by user.',
                updated_at=NOW,
            ),
            self.store.get_plan(plan.uuid),
        )
        self.assertEqual(
            [
                ('state_changed', 'INIT', 'SKIPPED', message, 'RECOMMENDED'),
                (
                    'message_changed',
                    'RECOMMENDED',
                    'RECOMMENDED',
                    'One or more actions were skipped. '
                    f'Action {action.uuid} was skipped by user.',
                    'RECOMMENDED',
                ),
            ],
            self.events(),
        )
        self.assertEqual([EVENTS], self.sent)

    def test_a_skip_in_a_started_plan_is_announced(self):
        plan, (action,) = self.create_plan('INIT', state='PENDING')

        after = self.operations.skip_action(action.uuid)

        self.assertEqual('Action skipped by user.', after.status_message)
        self.assertEqual('PENDING', self.store.get_plan(plan.uuid).state)
        self.assertEqual(
            [('applier', commands.LaunchActionPlan(plan.uuid)), EVENTS], self.sent
        )

    def test_the_skip_of_an_action_that_is_not_pending_is_refused(self):
        has_run = {'phase': COMPLETE, 'start_time': NOW}
        for state, status, shown, values in (
            ('PENDING', 'WAITING', 'ONGOING', has_run),
            *(
                (state, status, action_states.INFRA_OPTIM[status], {})
                for state in ('RECOMMENDED', 'PENDING', 'ONGOING')
                for status in set(action_states.STATES) - action_states.NOT_STARTED
            ),
        ):
            action = factories.make_action(status=status, **values)
            factories.store_plan(self.store, action, state=state)
            self.assert_refused(
                exceptions.TransitionNotAllowed,
                f'State transition not allowed: ({shown} -> SKIPPED)',
                self.operations.skip_action,
                action.uuid,
            )

    def test_a_skip_in_a_running_or_ended_plan_or_outside_of_plans_is_refused(self):
        (alone,) = factories.store_actions(self.store, factories.make_action())
        text = f'Action {alone.uuid} belongs to no action plan; only those of a plan '
        cases = [(f'{text}can be skipped', alone)]
        for state in set(states.STATES) - {'RECOMMENDED', 'PENDING'}:
            text = f'State update not allowed for actionplan state: {state}'
            for status in action_states.NOT_STARTED:
                cases += [(text, self.create_plan(status, state=state)[1][0])]
        for text, action in cases:
            self.assert_refused(
                exceptions.Conflict, text, self.operations.skip_action, action.uuid
            )


class TestMessages(OperationsCase):
    def test_the_message_of_a_skip_has_a_prefix_and_the_reason(self):
        longest = 'ü' * (255 - len(PREFIX))
        for reason, message in (
            (longest, PREFIX + longest),
            ('{0} {', f'{PREFIX}{{0}} {{'),
            (None, 'Action skipped by user.'),
            ('', 'Action skipped by user.'),
        ):
            self.assertEqual(message, user_message(reason))

    def test_a_reason_that_does_not_fit_or_cannot_be_stored_changes_nothing(self):
        _, (proposed, skipped) = self.create_plan(
            'INIT', 'SKIPPED', state='RECOMMENDED'
        )
        for reason, text in (
            ('ü' * 224, 'The reason has 224 characters; at most 223 are kept'),
            (
                'a\0',
                'The reason cannot be stored: this text has a NUL character, which '
                'databases cannot store',
            ),
            (
                'a\ud800',
                'The reason cannot be stored: this text has half of a surrogate pair, '
                'which is not a character',
            ),
        ):
            for operation, action in (
                (self.operations.skip_action, proposed),
                (self.operations.edit_skip_message, skipped),
            ):
                self.assert_refused(
                    exceptions.Invalid, text, operation, action.uuid, reason
                )


class TestEdit(OperationsCase):
    def skipped(self, message, **values):
        _, (action,) = factories.store_plan(
            self.store,
            factories.make_action(status='SKIPPED', status_message=message),
            **values,
        )
        return action

    def test_the_reason_of_a_skip_is_replaced_in_any_state_of_the_plan(self):
        for state, (old, reason, message) in itertools.product(
            states.STATES,
            (
                (f'{AUTOMATIC}off', 'it was off', f'{PREFIX}it was off'),
                (f'{PREFIX}old', 'new', f'{PREFIX}new'),
                (f'{PREFIX}old', None, 'Action skipped by user.'),
            ),
        ):
            action = self.skipped(old, state=state)

            after = self.operations.edit_skip_message(action.uuid, reason)

            self.assertEqual(
                action.evolve(status_message=message, updated_at=NOW), after
            )
            self.assertEqual(after, self.store.get_action(action.uuid))
            self.assertEqual(
                ('message_changed', 'SKIPPED', 'SKIPPED', message, state),
                self.events()[-1],
            )
            self.assertEqual(EVENTS, self.sent[-1])

    def test_the_reason_of_an_automatic_skip_cannot_be_removed(self):
        action = self.skipped(f'{AUTOMATIC}off')
        before = self.events()

        for nothing in (None, ''):
            after = self.operations.edit_skip_message(action.uuid, nothing)

            self.assertEqual(action, after)
        self.assertEqual(before, self.events())

    def test_the_edit_of_an_action_that_is_not_skipped_is_refused(self):
        for status in set(action_states.STATES) - {'SKIPPED'}:
            _, (action,) = self.create_plan(status)
            self.assert_refused(
                exceptions.Conflict,
                'status_message update only allowed when action state is SKIPPED',
                self.operations.edit_skip_message,
                action.uuid,
                'new',
            )


class TestSignal(OperationsCase):
    def test_a_signal_to_a_running_action_is_stored_for_its_worker(self):
        for status, signal in (
            ('RUNNING', 'CANCEL'),
            ('RUNNING', 'SUSPEND'),
            ('SUSPENDED', 'RESUME'),
            ('SUSPENDED', 'CANCEL'),
        ):
            plan, (action,) = self.create_plan(status)

            after = self.operations.signal_action(action.uuid, signal)

            self.assertEqual(signal, after.control)
            self.assertEqual(after, self.store.get_action(action.uuid))
            self.assertEqual(
                ('signalled', status, status, None, 'ONGOING'), self.events()[-1]
            )
            self.assertEqual(
                [(None, commands.ActionsSignalled((plan.uuid,))), EVENTS],
                self.sent[-2:],
            )

    def test_the_cancel_of_an_unstarted_action_ends_it(self):
        unstarted = 'Action was cancelled before it started.'
        has_run = {'phase': COMPLETE}
        for status, values, message in (
            *((status, {}, unstarted) for status in action_states.NOT_STARTED),
            ('READY', has_run, 'Action was cancelled while it ran.'),
        ):
            plan, (action, _) = factories.store_plan(
                self.store,
                factories.make_action(status=status, **values),
                factories.make_action(status='RUNNING'),
            )

            after = self.operations.signal_action(action.uuid, 'CANCEL')

            self.assertEqual(
                action.evolve(
                    status='CANCELLED',
                    status_message=message,
                    end_time=NOW,
                    updated_at=NOW,
                ),
                after,
            )
            self.assertEqual(after, self.store.get_action(action.uuid))
            self.assertEqual(1, self.store.get_plan(plan.uuid).unfinished)
            self.assertEqual(
                ('state_changed', status, 'CANCELLED', message, 'ONGOING'),
                self.events()[-1],
            )

    def insert_waiting_action(self, **holder):
        """Store the holder of a lock and an action that waits for it."""
        stored = factories.store_actions(
            self.store,
            factories.make_action(status='READY', target='host-1', **holder),
            factories.make_action(
                status='WAITING', target='host-1', blocked_on='host-1'
            ),
        )
        with self.store.transaction() as tx:
            tx.acquire_locks({'host-1': stored[0].id})
        return stored

    def test_a_cancel_passes_the_lock_to_the_next_action(self):
        holder, waiting = self.insert_waiting_action()

        self.operations.signal_action(holder.uuid, 'CANCEL')

        free = self.store.get_action(waiting.uuid)
        self.assertEqual(('READY', None), (free.status, free.blocked_on))

    def test_a_worker_ends_claimed_actions_and_those_between_two_tries(self):
        taken, waiting = self.insert_waiting_action(owner='w')
        again, after = factories.store_actions(
            self.store,
            factories.make_action(
                status='READY', start_time=NOW, not_before=factories.at(60)
            ),
            factories.make_action(status='READY', owner='w'),
        )

        signalled = [
            self.operations.signal_action(a.uuid, 'CANCEL') for a in (taken, again)
        ]

        self.assertEqual(
            [
                taken.evolve(control='CANCEL', updated_at=NOW),
                again.evolve(control='CANCEL', updated_at=NOW, not_before=EPOCH),
            ],
            signalled,
        )
        self.assertEqual(
            signalled, [self.store.get_action(a.uuid) for a in (taken, again)]
        )
        self.assertEqual(waiting, self.store.get_action(waiting.uuid))
        after = self.operations.signal_action(after.uuid, 'SUSPEND')
        self.assertEqual(('READY', 'SUSPEND'), (after.status, after.control))

    def test_an_action_before_its_completion_is_suspended_with_one_event(self):
        (action,) = factories.store_actions(
            self.store,
            factories.make_action(status='READY', phase=COMPLETE, start_time=NOW),
        )

        after = self.operations.signal_action(action.uuid, 'SUSPEND')
        resumed = self.operations.signal_action(action.uuid, 'RESUME')

        self.assertEqual(('SUSPENDED', 'SUSPEND'), (after.status, after.control))
        self.assertEqual('READY', resumed.status)
        self.assertEqual(resumed, self.store.get_action(action.uuid))
        self.assertEqual(
            [
                ('signalled', 'READY', 'READY'),
                ('state_changed', 'READY', 'SUSPENDED'),
                ('signalled', 'SUSPENDED', 'SUSPENDED'),
                ('state_changed', 'SUSPENDED', 'READY'),
            ],
            [event[:3] for event in self.events()],
        )

    def test_the_cancel_between_two_tries_has_the_event_of_a_started_action(self):
        for start, ends in ((None, ['update']), (NOW, ['update', 'cancel.end'])):
            _, (action,) = factories.store_plan(
                self.store, factories.make_action(status='READY', start_time=start)
            )

            self.operations.signal_action(action.uuid, 'CANCEL')

            *_, event = (
                stored.event
                for stored in self.store.pending_events(100)
                if stored.event.subject == 'action'
            )
            self.assertEqual(ends, [note.name for note in match(event).notifications])

    def test_no_signal_revokes_a_cancel(self):
        for status in ('RUNNING', 'SUSPENDED', 'READY'):
            _, (action,) = factories.store_plan(
                self.store, factories.make_action(status=status, owner='w')
            )
            signal = functools.partial(self.operations.signal_action, action.uuid)
            cancelled = signal('CANCEL')
            for word in ('SUSPEND', 'RESUME'):
                error = self.assertRaises(exceptions.Conflict, signal, word)
                self.assertEqual(
                    f'{word} is not possible for action {action.uuid}: it was sent '
                    'CANCEL',
                    str(error),
                )
            self.assertEqual(cancelled, self.store.get_action(action.uuid))

    def test_a_signal_that_its_status_does_not_allow_is_refused(self):
        for signal in action_states.SIGNALS:
            for status in action_states.STATES:
                if status in action_states.SIGNAL_ALLOWED[signal]:
                    continue
                _, (action,) = self.create_plan(status)
                self.assert_refused(
                    exceptions.Conflict,
                    f'{signal} is not possible for action {action.uuid}: '
                    f'it is {status}',
                    self.operations.signal_action,
                    action.uuid,
                    signal,
                )

    def test_an_unknown_signal_is_refused(self):
        _, (action,) = self.create_plan('RUNNING')
        for word in ('KILL', 'cancel', ''):
            self.assert_refused(
                exceptions.Invalid,
                f'There is no signal {word!r}; there are CANCEL, RESUME, SUSPEND',
                self.operations.signal_action,
                action.uuid,
                word,
            )

    def test_the_cancel_of_an_action_without_a_plan_is_announced_to_its_lane(self):
        (action,) = factories.store_actions(
            self.store, factories.make_action(status='RUNNING', lane='engine')
        )

        self.operations.signal_action(action.uuid, 'CANCEL')

        self.assertEqual(
            [
                (None, commands.ActionsSignalled()),
                ('engine', commands.RunActions()),
                EVENTS,
            ],
            self.sent,
        )

    def test_derived_actions_are_read_one_level_at_a_time(self):
        waits = {'phase': 'complete', 'status': 'WAITING', 'pending': 1}
        generation = factories.store_actions(
            self.store, factories.make_action(name='a', **waits)
        )
        (first,) = generation
        for _ in range(2):
            generation = factories.store_actions(
                self.store,
                *(
                    factories.make_action(derived_from=parent.id, **waits)
                    for parent in generation
                    for _ in range(3)
                ),
            )
        asked = []
        ask = self.store.unfinished_derived
        self.store.unfinished_derived = lambda ids: asked.append(len(ids)) or ask(ids)

        self.operations.signal_action(first.uuid, 'CANCEL')

        self.assertEqual([1, 3, 9], asked)
        self.assertEqual(
            {'CANCEL'}, {a.control for a in self.store.list_actions(limit=100)}
        )

    def test_a_signal_to_a_waiting_action_applies_to_its_derived_actions(self):
        _, (parent, runs, waits, ended) = factories.store_plan(
            self.store,
            factories.make_action(status='WAITING', phase=COMPLETE, start_time=NOW),
            factories.make_action(status='RUNNING'),
            factories.make_action(status='READY'),
            factories.make_action(status='SUCCEEDED'),
        )
        children = [
            child.evolve(
                uuid=factories.new_uuid(),
                derived_from=parent.id,
                cause=action_states.DERIVED_ACTION,
            )
            for child in (runs, waits, ended)
        ]
        children = factories.store_actions(self.store, *children)

        self.operations.signal_action(parent.uuid, 'CANCEL')

        self.assertEqual(
            [
                ('WAITING', 'CANCEL'),
                ('RUNNING', 'CANCEL'),
                ('CANCELLED', None),
                ('SUCCEEDED', None),
            ],
            [
                ((found := self.store.get_action(a.uuid)).status, found.control)
                for a in (parent, *children)
            ],
        )

    def test_a_resume_releases_only_actions_that_wait_for_nothing_else(self):
        (parent,) = factories.store_actions(
            self.store,
            factories.make_action(status='SUSPENDED', phase=COMPLETE, start_time=NOW),
        )
        held, later, waits = (
            factories.make_action(
                status='WAITING',
                derived_from=parent.id,
                target='host-1',
                blocked_on=blocked_on,
            )
            for blocked_on in (parent.uuid, parent.uuid, 'host-1')
        )
        derived = factories.store_actions(
            self.store, held, later.evolve(parents=(held.uuid,)), waits
        )

        self.operations.signal_action(parent.uuid, 'RESUME')

        self.assertEqual(
            [('READY', None), ('WAITING', None), ('WAITING', 'host-1')],
            [
                ((found := self.store.get_action(a.uuid)).status, found.blocked_on)
                for a in derived
            ],
        )


class TestDeleted(OperationsCase):
    def test_an_action_of_a_deleted_plan_cannot_be_changed(self):
        plan, (action,) = self.create_plan('INIT', state='RECOMMENDED')
        self.operations.delete(plan.uuid)
        stored = self.events()

        for change in (
            lambda: self.operations.signal_action(action.uuid, 'CANCEL'),
            lambda: self.operations.skip_action(action.uuid),
            lambda: self.operations.edit_skip_message(action.uuid, 'why'),
        ):
            error = self.assertRaises(exceptions.NotFound, change)
            self.assertIn(action.uuid, str(error))

        self.assertEqual(stored, self.events())
